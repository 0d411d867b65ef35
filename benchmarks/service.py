"""The service under load: many clients read and write one vault at once, and none is lost.

A vault of so many records is made of files and served by `vault-kg serve`, as a process of its own.
Measured are

- `health_check` while the vault is indexed for the first time, beside the same when idle
  (target: p99 at most 5 times);
- reads with think time while one in ten calls is a write, beside reads alone at the same rate
  (target: p95 at most 2 times);
- as many calls as 50 clients can make, nine reads to one write: no error, and every write that was
  acknowledged is there afterwards.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HEALTH_TARGET, READ_TARGET = 5.0, 2.0
WORDS = ("vault", "record", "claim", "evidence", "page", "history", "index", "merge", "loom")
WRITE = "knowledge_save_page"


def page_id(number: int) -> str:
    return f"pg_01kh0000000000000000{number:06d}"


def make_vault(root: Path, records: int) -> None:
    """Write pages as a person would, each linked to the one before; nothing is indexed yet."""
    subprocess.run(
        [sys.executable, "-m", "vault_kg.cli", "init", str(root)],
        check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=surroundings(),
    )  # fmt: skip
    rng = random.Random(7)
    for number in range(records):
        body = " ".join(rng.choice(WORDS) for _ in range(60))
        path = root / f"main/pages/topic/{number // 500}/topic-{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            f"---\nformat: knowledge-record-v1\nid: {page_id(number)}\nkind: page\nrevision: 1\n"
            f"title: Topic {number}\nlifecycle: active\nrecorded_at: 2026-01-05T10:00:00Z\n"
            f"updated_at: 2026-01-05T10:00:00Z\ntype: Topic\n---\n\n{body}\n\n"
            f"See [[Topic {max(0, number - 1)}]].\n"
        )


def surroundings() -> dict[str, str]:
    return os.environ | {
        "VAULT_KG_EMBEDDING_MODEL": "off",
        "PYTHONPATH": str(Path(__file__).resolve().parents[1]),
    }


class Served:
    """`vault-kg serve` on a vault."""

    def __init__(self, root: Path) -> None:
        self.address = str(root / ".vault-kg/service.sock")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "vault_kg.cli", "serve", "--vault", str(root)],
            env=surroundings(), stderr=subprocess.DEVNULL,
        )  # fmt: skip
        while not Path(self.address).exists():
            assert self.process.poll() is None, "the service did not start"
            time.sleep(0.005)

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(60) == 0


@dataclass
class Tally:
    """What clients saw."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: {"read": [], "write": []})
    written: dict[str, str] = field(default_factory=dict)
    """Titles by the ids of the pages that were acknowledged."""

    errors: list[Any] = field(default_factory=list)

    @property
    def calls(self) -> int:
        return sum(map(len, self.seconds.values()))


class Client:
    """One connection, one call at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    @classmethod
    async def connect(cls, address: str) -> Client:
        return cls(*await asyncio.open_unix_connection(address, limit=1 << 24))

    async def call(self, method: str, **params: Any) -> dict[str, Any]:
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        self._writer.write(json.dumps(request).encode() + b"\n")
        answer: dict[str, Any] = json.loads(await self._reader.readline())
        return answer

    def close(self) -> None:
        self._writer.close()


def some_read(rng: random.Random, records: int) -> tuple[str, dict[str, Any]]:
    """Return a read as agents make them: mostly single records, some lists and searches."""
    number = rng.randrange(records)
    return rng.choices(
        [
            ("knowledge_get", {"id": page_id(number)}),
            ("knowledge_lookup", {"text": f"Topic {number}"}),
            ("knowledge_records", {"limit": 20}),
            ("knowledge_search", {"query": f"{rng.choice(WORDS)} {rng.choice(WORDS)}", "limit": 5}),
        ],
        weights=[5, 3, 1, 1],
    )[0]


async def use(
    address: str, number: int, records: int, until: float, share: float, think: float, tally: Tally
) -> None:
    """Be one client until a time: a share of the calls are writes, with pauses between them."""
    rng = random.Random(f"{number}/{until}")
    client = await Client.connect(address)
    await asyncio.sleep(rng.random() * think)
    while (began := time.perf_counter()) < until:
        if rng.random() < share:
            title = f"Written by {number} at {began:.6f}"
            kind = "write"
            answer = await client.call(WRITE, requestId=title, type="Topic", title=title)
            if "result" in answer:
                tally.written[answer["result"]["targetId"]] = title
        else:
            kind = "read"
            method, params = some_read(rng, records)
            answer = await client.call(method, **params)
        tally.seconds[kind].append(time.perf_counter() - began)
        if "error" in answer:
            tally.errors.append(answer["error"])
        if think:
            await asyncio.sleep(rng.expovariate(1 / think))
    client.close()


async def load(
    address: str, clients: int, records: int, seconds: float, share: float, think: float = 0.0
) -> Tally:
    """Let clients use the service for a while."""
    tally = Tally()
    until = time.perf_counter() + seconds
    await asyncio.gather(
        *(use(address, n, records, until, share, think, tally) for n in range(clients))
    )
    return tally


async def lost_writes(address: str, tally: Tally) -> list[str]:
    """Return the titles of acknowledged writes that are not there."""
    client = await Client.connect(address)
    lost = []
    for record, title in tally.written.items():
        answer = await client.call("knowledge_get", id=record)
        if answer.get("result", {}).get("title") != title:
            lost.append(title)
    client.close()
    return lost


async def watch_health(
    address: str, pace: float, goes_on: Callable[[dict[str, Any]], Awaitable[bool] | bool]
) -> list[float]:
    """Ask for the health at a pace, and return how long each answer took."""
    client = await Client.connect(address)
    taken: list[float] = []
    while True:
        began = time.perf_counter()
        said = (await client.call("health_check"))["result"]
        taken.append(time.perf_counter() - began)
        if not goes_on(said):
            client.close()
            return taken
        await asyncio.sleep(pace)


def health_until_ready(address: str) -> list[float]:
    return asyncio.run(watch_health(address, 0.01, lambda said: not said["healthy"]))


def health_for(address: str, seconds: float) -> list[float]:
    until = time.perf_counter() + seconds
    return asyncio.run(watch_health(address, 0.01, lambda _: time.perf_counter() < until))


def quantile(values: list[float], share: float) -> float:
    """Return a quantile in milliseconds."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] * 1000 if ordered else 0.0


def measure(records: int, clients: int, seconds: float, think: float) -> dict[str, Any]:
    """Run everything on a new vault, and return the figures."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "vault"
        root.mkdir()
        make_vault(root, records)
        served = Served(root)
        began = time.perf_counter()
        rebuilding = health_until_ready(served.address)
        indexed = time.perf_counter() - began
        idle = health_for(served.address, min(10.0, seconds / 4))

        def under(share: float, pause: float, long: float) -> Tally:
            return asyncio.run(load(served.address, clients, records, long, share, pause))

        alone = under(0.0, think, seconds / 4)
        beside = under(0.1, think, seconds / 4)
        full = under(0.1, 0.0, seconds)
        for tally in (beside, full):
            tally.errors += asyncio.run(lost_writes(served.address, tally))
        served.stop()
    reads, reads_beside = alone.seconds["read"], beside.seconds["read"]
    return {
        "records": records,
        "clients": clients,
        "index_seconds": indexed,
        "health_ms": {
            "idle_p50": quantile(idle, 0.5), "idle_p99": quantile(idle, 0.99),
            "rebuild_p50": quantile(rebuilding, 0.5), "rebuild_p99": quantile(rebuilding, 0.99),
            "rebuild_max": quantile(rebuilding, 1.0), "asked": len(rebuilding),
        },
        "health_ratio": quantile(rebuilding, 0.99) / quantile(idle, 0.99),
        "read_ms": {
            "alone_p50": quantile(reads, 0.5), "alone_p95": quantile(reads, 0.95),
            "beside_p50": quantile(reads_beside, 0.5), "beside_p95": quantile(reads_beside, 0.95),
            "rate_alone": len(reads) / (seconds / 4), "rate_beside": beside.calls / (seconds / 4),
        },
        "read_ratio": quantile(reads_beside, 0.95) / quantile(reads, 0.95),
        "full": {
            "calls_per_second": full.calls / seconds, "writes": len(full.written),
            "read_p50_ms": quantile(full.seconds["read"], 0.5),
            "read_p95_ms": quantile(full.seconds["read"], 0.95),
            "write_p50_ms": quantile(full.seconds["write"], 0.5),
            "write_p95_ms": quantile(full.seconds["write"], 0.95),
        },
        "errors": len(alone.errors) + len(beside.errors) + len(full.errors),
        "first_error": next(iter(alone.errors + beside.errors + full.errors), None),
    }  # fmt: skip


def main() -> int:
    """Measure, and say whether the targets are met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=10_000)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--think", type=float, default=1.0, help="mean pause between calls")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    found = measure(asked.records, asked.clients, asked.seconds, asked.think)
    met = (
        found["health_ratio"] <= HEALTH_TARGET
        and found["read_ratio"] <= READ_TARGET
        and not found["errors"]
    )
    if asked.json:
        print(json.dumps(found))
    else:
        for key, value in found.items():
            shown = (
                value if not isinstance(value, dict) else {k: round(v, 2) for k, v in value.items()}
            )
            print(f"{key:16} {shown}")
        print(f"targets: health {HEALTH_TARGET:g}x, reads {READ_TARGET:g}x, no error: "
              f"{'met' if met else 'NOT met'}")  # fmt: skip
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
