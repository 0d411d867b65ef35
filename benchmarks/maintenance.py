"""Measure what the debt costs: a full kg_read with its HEALTH and DEBT lines, and without them.

    python benchmarks/maintenance.py [--pages 20000] [--rounds 20] [--json]

The pages are of one level, a third of them joined by relationships. Both reads are of the same vault
in one process; they alternate, and the best of the rounds is compared: what is shared with others
only ever adds. The promise is that the read with the debt takes at most twice the time of the one
without. Beside them: the first read, which takes stock of all pages and puts most of them away, and
the debt's own share with the pages behind each factor.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from vaults import Language

from vault_kg.maintain import survey, tools_read
from vault_kg.operations import registry
from vault_kg.operations.caller import Caller
from vault_kg.operations.workspace import Workspace
from vault_kg.records import ids

CALLER = Caller("benchmark")
MADE_AT = "2026-01-05T10:00:00Z"
LIMIT = 2.0


def write(root: Path, pages: int) -> None:
    """Write a level of so many pages, and a relationship for every third."""
    language = Language(1)
    names = [f"{'-'.join(language.some(3))}-{number}" for number in range(pages)]
    for number, name in enumerate(names):
        words = 60 if number % 10 == 0 else 12
        head = {
            "id": _id("pg", number), "kind": "page", "title": name, "type": "Entity",
            "summary": language.paragraph(words).replace("\n", " "),
        }  # fmt: skip
        _put(root / f"user/pages/entity/{name}.md", head, "- A note.\n")
    for number in range(0, pages - 1, 3):
        head = {
            "id": _id("re", number), "kind": "relationship", "title": f"edge {number}",
            "type": "relates_to", "from": _id("pg", number), "to": _id("pg", number + 1),
            "evidence": "[{source: sr_00000000000000000000000000}]",
        }  # fmt: skip
        _put(
            root / f"user/relationships/relates-to/edge-{number}.md",
            head,
            "They belong together.\n",
        )


def _put(path: Path, head: dict[str, str], body: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    common = {
        "format": "knowledge-record-v1", "revision": "1", "lifecycle": "active",
        "recorded_at": MADE_AT, "updated_at": MADE_AT,
    }  # fmt: skip
    lines = "\n".join(f"{key}: {value}" for key, value in (head | common).items())
    path.write_text(f"---\n{lines}\n---\n\n{body}", encoding="utf-8")


def _id(prefix: str, number: int) -> str:
    base = len(ids.ALPHABET)
    digits = [ids.ALPHABET[number // base**place % base] for place in range(8, -1, -1)]
    return f"{prefix}_01kg0000000000000{''.join(digits)}"


@contextmanager
def without_debt() -> Iterator[None]:
    """Leave the HEALTH and DEBT lines out of reads."""
    totals = survey.Totals(0, 0, 0)
    kept = tools_read.survey.survey, tools_read.survey.check_touches

    def nothing(_: Workspace, partition: str, active: Any) -> survey.Survey:
        return survey.Survey(partition, totals, survey.Counts(None, 0, 0), active)

    tools_read.survey.survey = nothing
    tools_read.survey.check_touches = lambda *_: None
    try:
        yield
    finally:
        tools_read.survey.survey, tools_read.survey.check_touches = kept


def timed(do: Callable[[], object]) -> float:
    """Return how long something takes, in seconds."""
    began = time.perf_counter()
    do()
    return time.perf_counter() - began


def measure(pages: int, rounds: int) -> dict[str, Any]:
    """Make a vault, and measure."""
    with tempfile.TemporaryDirectory() as name:
        root, project = Path(name, "vault"), Path(name, "project")
        project.mkdir()
        write(root, pages)
        ws = Workspace.create(root)
        indexed = timed(ws.scan)
        first = timed(lambda: _begin(ws, project))
        session = _begin(ws, project)
        with_, without = [], []
        for _ in range(rounds):
            with without_debt():
                without.append(timed(lambda: _read(ws, session)))
            with_.append(timed(lambda: _read(ws, session)))
        factors = timed(lambda: registry.call(ws, "maintain_status", {"targets": True}, CALLER))
        answer = _read(ws, session)
        ws.close()
    return {
        "pages": pages, "indexed": indexed, "first read": first, "with debt": min(with_),
        "without debt": min(without), "ratio": round(min(with_) / min(without), 2),
        "pages behind factors": factors, "characters": len(answer["text"]),
        "debt line": answer["levels"][0]["debt_line"],
    }  # fmt: skip


def _begin(ws: Workspace, project: Path) -> str:
    answer = registry.call(ws, "kg_read", {"cwd": str(project)}, CALLER)
    return str(answer["session_id"])


def _read(ws: Workspace, session: str) -> dict[str, Any]:
    return registry.call(ws, "kg_read", {"session_id": session}, CALLER)


def main() -> None:
    """Measure and print; fails where the promise is not kept."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--json", action="store_true", help="print JSON")
    asked = parser.parse_args()
    os.environ["VAULT_KG_EMBEDDING_MODEL"] = "off"
    found = measure(asked.pages, asked.rounds)
    if asked.json:
        print(json.dumps(found, indent=2))
    else:
        for what, value in found.items():
            said = (
                f"{1000 * value:,.1f} ms" if isinstance(value, float) and what != "ratio" else value
            )
            print(f"{what:22} {said}")
    raise SystemExit(found["ratio"] > LIMIT)


if __name__ == "__main__":
    main()
