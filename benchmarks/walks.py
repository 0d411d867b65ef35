"""Walks of five steps through a large derived graph, beside a bare walk over the same tables.

    python benchmarks/walks.py --nodes 1000000 --degree 2
    python benchmarks/walks.py --nodes 1000000 --degree 5

Half of the edges join near nodes, most others any two, and one in twenty leads to one of a few hubs,
which are the likelier the fewer they are (a power law). From random nodes the walk goes downstream,
upstream and both ways; with a cap of 500 visited nodes in each case, and without one along the edges
alone: both ways, a graph with hubs is reached as a whole. The bare walk asks the same tables level by
level with one statement for 400 nodes, and keeps nothing but what it visited. Pages are warm.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from vault_kg.extract.backends.sqlite import SqliteBackend
from vault_kg.extract.backends.values import Where
from vault_kg.extract.walks import Ways, walk
from vault_kg.state.database import Database

DEPTH, CAP, UNBOUNDED = 5, 500, 1 << 40
BATCH = 400
HUBS = 1_000
NEAR = 40
TARGET_MS = 30.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--degree", type=float, default=2.0, help="edges for each node")
    parser.add_argument("--starts", type=int, default=1_000)
    parser.add_argument("--folder", type=Path, help="where the graph is made, and kept")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        path = (
            options.folder or Path(scratch)
        ) / f"graph-{options.nodes}-{options.degree:g}.sqlite"
        fresh = not path.exists()
        graph = SqliteBackend(path)
        if fresh:
            make(graph, options.nodes, options.degree)
        size = path.stat().st_size / 1e6
        print(f"{options.nodes:,} nodes, {options.degree:g} edges each, {size:,.0f} MB")
        print(
            f"{'walk':28} {'p50 ms':>9} {'p99 ms':>9} {'most ms':>9} {'bare p99':>9} {'visited':>9}"
        )
        for name, ways, cap in cases():
            measure(graph, options, name, ways, cap)
        graph.close()


def cases() -> Iterator[tuple[str, Ways, int]]:
    yield "downstream, no cap", "in", UNBOUNDED
    yield "upstream, no cap", "out", UNBOUNDED
    yield "downstream, cap 500", "in", CAP
    yield "upstream, cap 500", "out", CAP
    yield "both ways, cap 500", "both", CAP


def make(graph: SqliteBackend, nodes: int, degree: float) -> None:
    """Write a graph with nodes 1 to `nodes`, the same one for the same numbers."""
    chance = random.Random(7)
    weights = [1 / rank for rank in range(1, HUBS + 1)]
    hubs = chance.sample(range(1, nodes + 1), HUBS)
    count = int(nodes * degree)
    crowd = iter(chance.choices(hubs, weights, k=count // 20 + count // 50 + 1_000))

    def target(source: int) -> int:
        kind = chance.random()
        if kind < 0.5:
            return min(max(source + chance.randint(-NEAR, NEAR), 1), nodes)
        return next(crowd, 1) if kind > 0.95 else chance.randint(1, nodes)

    db = graph.database
    with graph.writing():
        db.execute("INSERT INTO root (id, name) VALUES (1, 'made')")
        for number, text in enumerate(("calls", "python", ""), 1):
            db.execute("INSERT INTO term VALUES (?, ?)", (number, text))
        db.executemany(
            "INSERT INTO node VALUES (?,1,?,'function',?,?,1,9,'','','','',NULL,0)",
            (
                (n, f"code:function:p/m{n // 50}.py::f{n}", f"f{n}", f"p/m{n // 50}.py")
                for n in range(1, nodes + 1)
            ),
        )
        ends = (
            (source, target(source)) for source in (chance.randint(1, nodes) for _ in range(count))
        )
        db.executemany(
            "INSERT OR IGNORE INTO edge VALUES (?,?,1,2,0.9,1,3,1)",
            sorted(pair for pair in ends if pair[0] != pair[1]),
        )
    graph.optimise()
    db.checkpoint()


def measure(
    graph: SqliteBackend, options: argparse.Namespace, name: str, ways: Ways, cap: int
) -> None:
    chance = random.Random(11)
    starts = [chance.randint(1, options.nodes) for _ in range(options.starts)]
    reader = graph.reader(None)
    ours, visited = timed(
        starts, lambda start: len(walk(reader, [start], ways, Where(None, 0.3), DEPTH, cap))
    )
    bare, _ = timed(starts, lambda start: bare_walk(graph.database, start, ways, cap))
    print(
        f"{name:28} {statistics.median(ours):9.2f} {p99(ours):9.2f} {max(ours):9.2f} "
        f"{p99(bare):9.2f} {statistics.median(visited):9,.0f}"
        + ("" if p99(ours) <= TARGET_MS else f"  over {TARGET_MS:g} ms")
    )


def timed(starts: list[int], run: Callable[[int], int]) -> tuple[list[float], list[int]]:
    """Return the milliseconds of each run after a warm one, and what it visited."""
    for start in starts[: len(starts) // 10 + 1]:
        run(start)
    times, visited = [], []
    for start in starts:
        before = time.perf_counter()
        visited.append(run(start))
        times.append((time.perf_counter() - before) * 1000)
    return times, visited


def bare_walk(db: Database, start: int, ways: Ways, cap: int) -> int:
    """Walk with one statement for 400 nodes, and nothing else."""
    directions = {"out": [("source", "target")], "in": [("target", "source")]}
    directions["both"] = directions["out"] + directions["in"]
    seen, frontier = {start}, [start]
    for _ in range(DEPTH):
        following: list[int] = []
        for first in range(0, len(frontier), BATCH):
            marks = ",".join(map(str, frontier[first : first + BATCH]))
            for here, there in directions[ways]:
                sql = f"SELECT {there} FROM edge WHERE {here} IN ({marks}) AND confidence >= 0.3"
                for (key,) in db.connection.execute(sql):
                    if key not in seen:
                        seen.add(key)
                        following.append(key)
                        if len(seen) > cap:
                            return cap
        frontier = following
    return len(seen) - 1


def p99(times: list[float]) -> float:
    return sorted(times)[max(0, -(-len(times) * 99 // 100) - 1)]


if __name__ == "__main__":
    main()
