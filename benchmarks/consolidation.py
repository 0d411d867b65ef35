"""What a consolidation session costs from begin to commit, and how much of that is our own work.

The same session is run in a vault on the disk and in one in memory, where flushing costs nothing.
What remains there without the embedding model is our own; its share of the time on the disk is what
is neither embedding nor disk sync. Every other candidate is new, and the rest are like a page that
stands, so that there is something to update and to supersede.

The two alternate, and the shortest of the rounds are compared: what is shared with others only ever
adds.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from vault_kg.operations import registry
from vault_kg.operations.caller import Caller
from vault_kg.operations.semantics import Semantics
from vault_kg.operations.workspace import Workspace

MEMORY = Path("/dev/shm")
ME = Caller("benchmark")
WORDS = (
    "retry webhook queue delay jitter timeout token session cache index ledger invoice shard "
    "replica schema tenant budget quota alert rollout deploy metric trace consent archive region"
).split()
PHASES = ("add nodes", "add edges", "propose", "commit")


class Stopwatch:
    """Adds up the seconds of named stretches."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def time(self, name: str) -> Iterator[None]:
        """Time a stretch."""
        started = time.perf_counter()
        try:
            yield
        finally:
            passed = time.perf_counter() - started
            self.seconds[name] = self.seconds.get(name, 0.0) + passed


def watched(method: Callable[..., Any], watch: Stopwatch) -> Callable[..., Any]:
    """Return a method that adds its time to `embedding`."""

    def timed(*arguments: Any, **options: Any) -> Any:
        with watch.time("embedding"):
            return method(*arguments, **options)

    return timed


def text(rng: random.Random, length: int) -> str:
    """Return some words as a sentence."""
    return " ".join(rng.choice(WORDS) for _ in range(length)).capitalize() + "."


def fill(ws: Workspace, rng: random.Random, pages: int) -> list[tuple[str, str]]:
    """Give a vault decisions in sessions of its own; returns their titles and bodies."""
    made: list[tuple[str, str]] = []
    while len(made) < pages:
        part = min(200, pages - len(made))
        nodes = [(text(rng, 6), text(rng, 60)) for _ in range(part)]
        run(ws, nodes, 0, Stopwatch())
        made += nodes
    ws.semantics.embed_pending()
    return made


def run(
    ws: Workspace, nodes: list[tuple[str, str]], edges: int, watch: Stopwatch
) -> dict[str, Any]:
    """Run one session; returns what its commit answered."""

    def ask(name: str, **arguments: Any) -> dict[str, Any]:
        return registry.call(ws, f"kg_{name}", arguments, ME)

    begun = ask(
        "begin_consolidation",
        source_type="spec",
        source_id="s",
        payload_hash=text(random.Random(), 20),
    )
    session = begun["session_id"]
    with watch.time("add nodes"):
        for title, body in nodes:
            ask(
                "add_node_candidate",
                session_id=session,
                node_type="Decision",
                title=title,
                body=body,
            )
    with watch.time("add edges"):
        for n in range(1, edges + 1):
            ends = {"src": f"cand_{n:03d}", "dst": f"cand_{n + 1:03d}"}
            asked = {end: {"candidate_id": name} for end, name in ends.items()}
            ask("add_edge_candidate", session_id=session, rel_type="depends_on", **asked)
    with watch.time("propose"):
        ask("propose_reconciliation", session_id=session)
    with watch.time("commit"):
        return ask("commit_consolidation", session_id=session)


def measure(parent: Path, pages: int, candidates: int) -> dict[str, Any]:
    """Time one session in a new vault below a folder, in seconds by phase."""
    rng = random.Random(candidates)
    with tempfile.TemporaryDirectory(dir=parent) as folder:
        root = Path(folder) / "vault"
        root.mkdir()
        ws = Workspace.create(root)
        (root / ".vault-kg/vault.toml").open("a").write(
            "[consolidation]\ncommits_per_minute = 100000\n"
        )
        ws.scan()
        standing = fill(ws, rng, pages)
        nodes = [
            (f"{standing[n][0]} now" if n % 2 and standing else text(rng, 6),
             f"{standing[n][1]} {text(rng, 3)}" if n % 2 and standing else text(rng, 60))
            for n in range(min(candidates, len(standing) or candidates))
        ]  # fmt: skip
        time.sleep(2.1)  # until no file was saved so recently that its stamp proves nothing
        ws.scan()
        watch = Stopwatch()
        patched = {name: getattr(Semantics, name) for name in ("embed_texts", "embed_pending")}
        for name, method in patched.items():
            setattr(Semantics, name, watched(method, watch))
        try:
            done = run(ws, nodes, candidates // 2, watch)
        finally:
            for name, method in patched.items():
                setattr(Semantics, name, method)
            ws.close()
    applied = {name: len(many) for name, many in done["applied"].items()}
    total = sum(watch.seconds[phase] for phase in PHASES)
    return watch.seconds | {"total": total, "applied": applied}


def _own(in_memory: dict[str, Any]) -> float:
    """Return the seconds of a session in memory that were not spent on embedding."""
    return float(in_memory["total"] - in_memory.get("embedding", 0.0))


def main() -> None:
    """Measure and print a table, or JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=1_000, help="decisions in the vault")
    parser.add_argument("--candidates", type=int, default=100, help="nodes in the session")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--disk", type=Path, default=Path.cwd(), help="a folder on the disk")
    parser.add_argument("--json", action="store_true", help="print JSON")
    arguments = parser.parse_args()
    for name in [name for name in os.environ if name.startswith(("GIT_AUTHOR", "GIT_COMMITTER"))]:
        del os.environ[name]
    asked = arguments.pages, arguments.candidates
    rounds = [
        (measure(arguments.disk, *asked), measure(MEMORY, *asked)) for _ in range(arguments.rounds)
    ]
    on_disk = min((one for one, _ in rounds), key=lambda one: one["total"])
    in_memory = min((one for _, one in rounds), key=_own)
    own = _own(in_memory)
    found = {"disk": on_disk, "memory": in_memory, "own": own, "share": own / on_disk["total"]}
    if arguments.json:
        print(json.dumps(found, indent=2))
        return
    print(f"{'':<12} {'on disk':>10} {'in memory':>10}")
    for name in (*PHASES, "total", "embedding"):
        print(f"{name:<12} {on_disk.get(name, 0):>8.2f} s {in_memory.get(name, 0):>8.2f} s")
    print(f"applied: {on_disk['applied']}")
    print(
        f"neither embedding nor disk sync: {own:.2f} s, {100 * found['share']:.0f} % of the time on disk"
    )


if __name__ == "__main__":
    main()
