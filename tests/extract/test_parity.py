"""Every backend gives the same answers: over random trees, changes of them, and what callers see."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.extract.conftest import make
from tests.extract.tiny import Tree
from tests.operations.conftest import fast_folder
from vault_kg.extract.backends.protocol import GraphBackend, GraphReader
from vault_kg.extract.backends.values import Choice, EdgeRow, Hop, Neighbour, NodeRow, Where
from vault_kg.extract.walks import walk

NAMES = ["load", "save", "parseText", "read_file", "write", "test_all", "run", "stop"]
FOLDERS = ["main/pages", "secret/pages", "pkg", ""]
ALL = 10_000
SEEN = (None, frozenset({"main"}), frozenset({"main", "secret"}), frozenset[str]())


def change(folder: Path, chance: random.Random) -> None:
    """Write, break or delete some files."""
    for _ in range(chance.randint(1, 4)):
        place = folder / chance.choice(FOLDERS)
        place.mkdir(parents=True, exist_ok=True)
        file = place / f"f{chance.randint(1, 5)}.tiny"
        if chance.random() < 0.2:
            file.unlink(missing_ok=True)
            continue
        lines = [
            chance.choice(
                [f"def {chance.choice(NAMES)}", f"call {chance.choice(NAMES)}",
                 f"alias {chance.choice(NAMES)} {chance.choice(NAMES)}",
                 f"call {chance.choice(NAMES)} of f{chance.randint(1, 5)}"]
            )
            for _ in range(chance.randint(0, 8))
        ]  # fmt: skip
        file.write_text("\n".join(lines + ["broken"] * (chance.random() < 0.1)))


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[tuple[Tree, Tree]]:
    with fast_folder() as name:
        backends = [make(kind, Path(name)) for kind in ("sqlite", "memory")]
        yield tuple(Tree(tmp_path / "vault", graph, "vault") for graph in backends)  # type: ignore[misc]
        for graph in backends:
            graph.close()


@pytest.mark.parametrize("seed", range(12))
def test_backends_agree_through_random_changes(pair: tuple[Tree, Tree], seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(6):
        change(pair[0].root.folder, chance)
        reports = [tree.index() for tree in pair]
        assert reports[0] == reports[1]
        hidden = chance.sample(NAMES, 2)
        for partitions in SEEN:
            sqlite, memory = (everything(tree.graph, partitions) for tree in pair)
            assert sqlite == memory
            sqlite, memory = (everything(tree.graph, partitions, hidden) for tree in pair)
            assert sqlite == memory


@pytest.mark.parametrize("seed", range(12, 18))
def test_a_graph_that_followed_changes_is_the_one_made_anew(
    pair: tuple[Tree, Tree], seed: int
) -> None:
    chance = random.Random(seed)
    followed, fresh = pair
    for _ in range(6):
        change(followed.root.folder, chance)
        followed.index()
    for file in followed.root.folder.rglob("*.tiny"):
        file.write_text(file.read_text().replace("broken", ""))
    followed.index()
    fresh.index()
    assert everything(followed.graph, None) == everything(fresh.graph, None)


def everything(
    graph: GraphBackend, partitions: frozenset[str] | None, hidden: Sequence[str] = ()
) -> dict[str, Any]:
    """Return what a reader answers to every question, without keys and in a common order.

    Nodes with a hidden label are hidden.
    """
    unseen = {r.key for r in graph.reader(None).every_node() if r.node.label in hidden}
    reader = graph.reader(partitions, frozenset(unseen))
    assert not {row.node.label for row in reader.every_node()} & set(hidden)
    rows = {row.key: row for row in reader.every_node()}
    uids = {key: row.node.uid for key, row in rows.items()}
    return {
        "nodes": {plain(row) for row in rows.values()},
        "edges": {shown(edge, uids) for edge in reader.every_edge()},
        "counts": reader.counts(),
        "findings": reader.findings(),
        "under": [listed(reader.under(p, None, ALL)) for p in ("pkg", "main", "pkg/f1.tiny", "")],
        "under kinds": listed(reader.under("", "vault", ALL, ("function",))),
        "labelled": [names((reader.labelled(n, None, ALL), 0)) for n in ("load", "f1.tiny", "zz")],
        "like": [listed(reader.like(t, None, ALL)) for t in ("a", "LOAD", "_", "zz")],
        "like cut": names(reader.like("a", ("function",), 3)),
        "search": [found(reader, [w]) for w in ("load", "text", "file", "does", "def", "zz")],
        "search two": found(reader, ["parse", "text"]),
        "select": [
            listed(reader.select(choice, ALL))
            for choice in (
                Choice(), Choice(stubs=True), Choice(kinds=("function",)), Choice(role="test"),
                Choice(path="pkg"), Choice(kinds=("function",), not_reached_by=("calls",)),
                Choice(not_reached_by=("calls",), reached_from_role="test"),
            )
        ],
        "around": {row.node.uid: around(reader, row, uids) for row in rows.values()},
        "every hop": hops(reader.every_hop(Where(), ALL)[0], uids),
        "sure hops": reader.every_hop(Where(("calls",), 0.5), 1)[1],
        "files": {
            path: (state.hash, state.error, state.nodes, state.edges)
            for path, state in graph.states("vault").items()
        },
    }  # fmt: skip


def around(reader: GraphReader, row: NodeRow, uids: dict[int, str]) -> Any:
    calls = Where(("calls",), 0.3)
    return (
        [plain(found) for found in reader.find(row.node.uid)],
        [reader.edge_kinds(row.key, d) for d in ("out", "in")],  # type: ignore[arg-type]
        [
            beyond(reader.neighbours([row.key], d, w), uids)
            for d in ("out", "in")
            for w in (Where(), calls)
        ],  # type: ignore[arg-type]
        [{shown(e, uids) for e in reader.edges(row.key, d, calls, ALL)[0]} for d in ("out", "in")],  # type: ignore[arg-type]
        [reader.edges(row.key, d, Where(), 1)[1] for d in ("out", "in")],  # type: ignore[arg-type]
        {
            (uids[step.key], step.depth, step.weakest)
            for step in walk(reader, [row.key], "both", Where(), 3, ALL).steps()
        },
    )


def plain(row: NodeRow) -> tuple[Any, ...]:
    return row.root, row.node, row.partition, row.stub


def shown(edge: EdgeRow, uids: dict[int, str]) -> tuple[Any, ...]:
    ends = uids.get(edge.id.source), uids.get(edge.id.target)
    return (*ends, *edge.id[2:], edge.confidence, edge.line, edge.signals, edge.linked)


def hops(found: list[Hop], uids: dict[int, str]) -> set[tuple[Any, ...]]:
    return {(uids[hop.source], uids[hop.target], *hop[2:]) for hop in found}


def beyond(found: list[Neighbour], uids: dict[int, str]) -> set[tuple[Any, ...]]:
    return {(uids[near], uids[far], kind, sure) for near, far, kind, sure in found}


def listed(answer: tuple[list[NodeRow], int]) -> tuple[list[str], int]:
    return sorted(row.node.uid for row in answer[0]), answer[1]


def names(answer: tuple[list[NodeRow], int]) -> tuple[list[str], int]:
    return [row.node.uid for row in answer[0]], answer[1]


def found(reader: GraphReader, words: list[str]) -> tuple[list[str], int]:
    scored, total = reader.search(words, None, ALL)
    return sorted(row.node.uid for row, _ in scored), total


def test_a_change_that_fails_leaves_nothing(pair: tuple[Tree, Tree]) -> None:
    shutil.rmtree(pair[0].root.folder)
    pair[0].root.folder.mkdir()
    pair[0].put(a="def one; call two", b="def two")
    for tree in pair:
        tree.index()
        before = everything(tree.graph, None)
        row = tree.graph.reader(None).find("code:function:b.tiny::two")[0]
        with pytest.raises(KeyboardInterrupt), tree.graph.writing():
            tree.graph.remove_nodes([row.key])
            tree.graph.put_setting("x", "y")
            raise KeyboardInterrupt
        assert everything(tree.graph, None) == before and tree.graph.setting("x") is None
