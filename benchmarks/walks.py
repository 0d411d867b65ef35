"""Walks of five steps through a large derived graph, beside a bare walk over the same tables.

    python benchmarks/walks.py --nodes 1000000 --degree 2
    python benchmarks/walks.py --nodes 1000000 --degree 5

Half of the edges join near nodes, most others any two, and one in twenty leads to one of a few hubs,
which are the likelier the fewer they are (a power law). From random nodes the walk goes downstream,
upstream and both ways; with a cap of 500 visited nodes in each case, and without one along the edges
alone: both ways, a graph with hubs is reached as a whole.

The bare walk asks the same tables over the same connection, level by level, one statement for 400
nodes, with the same cap, and keeps nothing but what it visited. Both walk from the same nodes, one
right after the other, and who is first changes from round to round. Rounds go over all nodes, so that
a burst of other work is in one of them only, and of each walk the fastest round counts. Pages are
warm. "with ways" is the walk with how each node was reached, which a bare walk does not know.
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
TARGET, TARGET_MS = 1.5, 30.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--degree", type=float, default=2.0, help="edges for each node")
    parser.add_argument("--starts", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--processor", action="store_true", help="measure processor time")
    parser.add_argument("--folder", type=Path, help="where the graph is made, and kept")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        path = (
            options.folder or Path(scratch)
        ) / f"graph-{options.nodes}-{options.degree:g}.sqlite"
        graph = SqliteBackend(path)
        if graph.database.row("SELECT 1 FROM node LIMIT 1") is None:
            make(graph, options.nodes, options.degree)
        size = path.stat().st_size / 1e6
        print(f"{options.nodes:,} nodes, {options.degree:g} edges each, {size:,.0f} MB")
        print(f"{'milliseconds, p50 and p99':26}{'ours':>15}{'bare':>15}{'ratio':>12}"
              f"{'with ways':>15}{'visited':>9}")  # fmt: skip
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
    reader, where = graph.reader(None), Where(None, 0.3)

    def ours(start: int) -> int:
        return len(walk(reader, [start], ways, where, DEPTH, cap))

    def with_ways(start: int) -> int:
        return len(walk(reader, [start], ways, where, DEPTH, cap).steps())

    def bare(start: int) -> int:
        return bare_walk(graph.database, start, ways, cap)

    clock = time.thread_time if options.processor else time.perf_counter
    times, visited = interleaved(starts, [ours, bare, with_ways], options.rounds, clock)
    shown = [f"{p50(each):7.2f}{p99(each):8.2f}" for each in times]
    ratios = [part(times[0]) / part(times[1]) for part in (p50, p99)]
    over = max(ratios) > TARGET or p99(times[0]) > TARGET_MS
    print(f"{name:26}{shown[0]}{shown[1]}{ratios[0]:6.2f}{ratios[1]:6.2f}{shown[2]}"
          f"{statistics.median(visited):9,.0f}" + ("  missed" if over else ""))  # fmt: skip


def interleaved(
    starts: list[int], runs: list[Callable[[int], int]], rounds: int, clock: Callable[[], float]
) -> tuple[list[list[float]], list[int]]:
    """Return the milliseconds of each walk, for each start its fastest; and what was visited."""
    best = [[float("inf")] * len(starts) for _ in runs]
    visited: list[int] = []
    for start in starts:
        reached = {run(start) for run in runs}
        assert len(reached) == 1, f"from {start}, {reached} nodes are reached"
        visited += reached
    for turn in range(rounds):
        for place, start in enumerate(starts):
            for which in rotated(len(runs), place + turn):
                before = clock()
                runs[which](start)
                best[which][place] = min(best[which][place], (clock() - before) * 1000)
    return best, visited


def rotated(count: int, by: int) -> list[int]:
    return [(n + by) % count for n in range(count)]


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


def p50(times: list[float]) -> float:
    return statistics.median(times)


def p99(times: list[float]) -> float:
    return sorted(times)[max(0, -(-len(times) * 99 // 100) - 1)]


if __name__ == "__main__":
    main()
