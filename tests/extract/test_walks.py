"""Walks, against the plainest definition of what they say, over random graphs of every backend."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, get_args

import pytest

from tests.extract.conftest import make
from vault_kg.extract.backends.protocol import GraphBackend, GraphReader
from vault_kg.extract.backends.values import Crossing, Direction, Follow, Where, edge_row
from vault_kg.extract.edge_kinds import BEHAVIOURAL, STRONG
from vault_kg.extract.model import Edge, Node
from vault_kg.extract.walks import Walk, Ways, walk

KINDS = ("calls", "imports", "links_to", "contains")
SURE = (0.3, 0.4, 0.7, 0.9, 1.0)
NODES, EDGES, DEPTH, ALL = 40, 90, 4, 10_000


class Link(NamedTuple):
    source: int
    target: int
    kind: str
    confidence: float


def made(graph: GraphBackend, links: list[tuple[int, int, str, float]], count: int) -> list[Link]:
    """Write a graph whose nodes have the numbers 0 to `count` - 1; returns its edges by keys."""
    uids = [f"code:function:a.py::f{number}" for number in range(count)]
    with graph.writing():
        nodes = [Node(uid, "function", uid.rpartition(":")[2], "a.py") for uid in uids]
        keys = graph.put_nodes("vault", nodes, None)
        found = []
        for a, b, kind, sure in links:
            found.append(Link(keys[uids[a]], keys[uids[b]], kind, sure))
            edge = Edge(uids[a], uids[b], kind, sure, "made")  # type: ignore[arg-type]
            graph.put_edges([edge_row(found[-1].source, found[-1].target, edge, linked=False)])
    return found


def random_links(chance: random.Random) -> list[tuple[int, int, str, float]]:
    ends = {
        (chance.randrange(NODES), chance.randrange(NODES), chance.choice(KINDS))
        for _ in range(EDGES)
    }
    return [(*end, chance.choice(SURE)) for end in sorted(ends)]


def crossed(links: list[Link], ways: Ways) -> Iterator[tuple[int, int, Link]]:
    """Yield the edges that a walk may follow, as (here, there, edge)."""
    for link in links:
        if ways in ("out", "both"):
            yield link.source, link.target, link
        if ways in ("in", "both"):
            yield link.target, link.source, link


def expected(links: list[Link], starts: set[int], ways: Ways) -> dict[int, tuple[int, float]]:
    """Return the depth of each node, and the score of the best of the shortest ways to it."""
    reached = {key: (0, {(1.0, True)}) for key in starts}
    for depth in range(1, DEPTH + 1):
        fresh: dict[int, set[tuple[float, bool]]] = {}
        for here, there, link in crossed(links, ways):
            if there not in reached and here in reached and reached[here][0] == depth - 1:
                fresh.setdefault(there, set()).add(better(reached[here][1], link))
        for there, every in fresh.items():
            best = max(map(score, every))
            reached[there] = depth, {way for way in every if score(way) == best}
    return {key: (depth, max(map(score, every))) for key, (depth, every) in reached.items()
            if key not in starts}  # fmt: skip


def better(before: set[tuple[float, bool]], link: Link) -> tuple[float, bool]:
    over = [(min(w, link.confidence), felt and link.kind in BEHAVIOURAL) for w, felt in before]
    return max(over, key=score)


def score(way: tuple[float, bool]) -> float:
    return way[0] + (1.0 if way[1] and way[0] >= STRONG else 0.0)


@pytest.mark.parametrize("ways", ["out", "in", "both"])
@pytest.mark.parametrize("seed", range(15))
def test_a_walk_finds_the_best_of_the_shortest_ways(
    graph: GraphBackend, seed: int, ways: Ways
) -> None:
    chance = random.Random(seed)
    links = made(graph, random_links(chance), NODES)
    starts = {chance.choice(links).source for _ in range(chance.randint(1, 3))}
    found = walk(graph.reader(None), starts, ways, Where(), DEPTH, ALL)
    wanted = expected(links, starts, ways)
    steps = found.steps()
    assert {s.key: (s.depth, score((s.weakest, s.behavioural))) for s in steps} == wanted
    assert [s.key for s in steps] == found.keys() and len(found) == len(steps)
    assert not found.truncated and [s.depth for s in steps] == sorted(s.depth for s in steps)
    real = {(here, there, link.kind, link.confidence) for here, there, link in crossed(links, ways)}
    depths = {s.key: s.depth for s in steps} | dict.fromkeys(starts, 0)
    for step in steps:
        assert (step.came_from, step.key, step.kind, step.confidence) in real
        assert depths[step.came_from] == step.depth - 1


@pytest.mark.parametrize("seed", range(10))
def test_a_limit_keeps_the_nearest_and_says_that_there_are_more(
    graph: GraphBackend, seed: int
) -> None:
    links = made(graph, random_links(random.Random(seed)), NODES)
    reader, starts = graph.reader(None), {links[0].source}
    whole = walk(reader, starts, "both", Where(), DEPTH, ALL).steps()
    for limit in {0, 1, len(whole) // 2, len(whole), len(whole) + 1}:
        found = walk(reader, starts, "both", Where(), DEPTH, limit)
        assert found.keys() == [step.key for step in whole[:limit]]
        assert found.truncated == (limit < len(whole))


def test_filters_hold_on_the_way(graph: GraphBackend) -> None:
    links = made(graph, [(0, 1, "calls", 0.9), (1, 2, "calls", 0.4), (1, 3, "contains", 1.0)], 4)
    start = {links[0].source}

    def reached(where: Where) -> list[int]:
        return walk(graph.reader(None), start, "out", where, DEPTH, ALL).keys()

    assert reached(Where(None, 0.5)) == [links[0].target, links[2].target]
    assert reached(Where(("calls",))) == [links[0].target, links[1].target]
    assert reached(Where(("nothing",))) == []


class Counting:
    """A reader that counts the edges which a walk takes from it."""

    def __init__(self, reader: GraphReader) -> None:
        self._reader = reader
        self.taken = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reader, name)

    def follow(self, direction: Direction, where: Where) -> Follow:
        following = self._reader.follow(direction, where)

        def counted(keys: Any) -> Iterator[Crossing]:
            for edge in following(keys):
                self.taken += 1
                yield edge

        return counted


def test_a_walk_reads_little_more_of_a_hub_than_its_limit(graph: GraphBackend) -> None:
    links = made(graph, [(0, n, "calls", 0.9) for n in range(1, 1_500)], 1_500)
    reader = Counting(graph.reader(None))
    found: Walk = walk(reader, {links[0].source}, "out", Where(), DEPTH, 20)
    assert len(found) == 20 and found.truncated and reader.taken <= 21


@pytest.mark.parametrize("seed", range(5))
def test_of_ways_that_are_as_good_each_backend_takes_the_same(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    ends = [(chance.randrange(8), chance.randrange(8)) for _ in range(14)]
    links = [(a, b, kind, sure) for a, b in ends for kind in KINDS for sure in (0.4,)]
    answers = []
    for number, order in enumerate((links, links[::-1], chance.sample(links, len(links)))):
        for name in ("sqlite", "memory"):
            (tmp_path / f"{number}{name}").mkdir()
            graph = make(name, tmp_path / f"{number}{name}")
            keys = made(graph, order, 8)
            start = min(min(link[:2]) for link in keys)
            answers.append([walk(graph.reader(None), {start}, ways, Where(), DEPTH, ALL).steps()
                            for ways in get_args(Ways)])  # fmt: skip
            graph.close()
    assert all(answer == answers[0] for answer in answers)
