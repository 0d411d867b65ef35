"""Symbols are the same whether they are asked for one by one, read all at once, or in memory."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.extract.conftest import make
from tests.extract.test_parity import NAMES, change
from tests.extract.tiny import Tree
from tests.operations.conftest import fast_folder
from vault_kg.extract import filing, uids
from vault_kg.extract.backends import sqlite_symbols
from vault_kg.extract.backends.protocol import GraphBackend
from vault_kg.extract.model import Node
from vault_kg.extract.protocol import SymbolIndex

MANY = 10**9


def answers(symbols: SymbolIndex, paths: list[str]) -> list[object]:
    """Return all that resolution may ask, with what is not there among it."""
    told: list[object] = []
    for name in (*NAMES, "nobody"):
        told.append([node.uid for node in symbols.labelled(name)])
        for path in (*paths, "no/such.tiny"):
            told.append((path, symbols.exported(path, name), symbols.exported(path, name)))
            found = symbols.first(uids.symbols(path, name))
            told.append(found and (found.uid, found.kind, found.label, found.path, found.roles))
            told.append(found and symbols.node(found.uid) == found)
    told += [symbols.has_path(path) for path in (*paths, "no/such.tiny")]
    return [*told, *(sorted(symbols.paths_ending(f"f{n}.tiny")) for n in range(7))]


@pytest.mark.parametrize("seed", range(4))
def test_however_they_are_read(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(seed)
    with fast_folder() as name:
        graphs = [make(kind, Path(name)) for kind in ("sqlite", "memory")]
        trees = [Tree(tmp_path / "vault", graph, "vault") for graph in graphs]
        for _ in range(4):
            change(trees[0].root.folder, chance)
            for tree in trees:
                tree.index()
        paths = sorted(graphs[0].states("vault"))
        told = [answers(graph.symbols("vault"), paths) for graph in graphs]
        for few, share in ((0, MANY), (7, MANY), (MANY, 1)):
            monkeypatch.setattr(sqlite_symbols, "FEW", few)
            monkeypatch.setattr(sqlite_symbols, "SHARE", share)
            told.append(answers(graphs[0].symbols("vault"), paths))
        for graph in graphs:
            graph.close()
    assert all(each == told[0] for each in told)
    assert any(told[0])


def test_of_two_nodes_of_one_uid_the_last_stands(graph: GraphBackend) -> None:
    uid = uids.symbol("function", "a.py", "f")
    for first, last in (("one", "two"), ("three", "four")):
        with graph.writing():
            keys = graph.put_nodes(
                "code", [Node(uid, "function", "f", "a.py", 1, 1, s) for s in (first, last)], None
            )
        (row,) = graph.reader(None).find(uid)
        assert keys == {uid: row.key} and row.node.signature == last
        assert graph.keys("code", [uid, "code:file:b.py"]) == keys
        assert graph.places([row.key, 999]) == {row.key: (uid, "a.py")}


def test_a_stub_that_lost_its_last_edge_goes_though_the_run_was_broken_off(tree: Tree) -> None:
    tree.put(a="def one; call gone", pkg__b="def two; call gone")
    tree.index()
    tree.put(a="def one", pkg__b="def two")
    tree.run().everything()  # and no sweep
    assert any(row.stub for row in tree.graph.reader(None).every_node())
    tree.put(c="def three")
    tree.index()
    assert not any(row.stub for row in tree.graph.reader(None).every_node())
    (tree.root.folder / "pkg/b.tiny").unlink()
    tree.run().everything()
    assert "folder:pkg" in tree.uids()
    assert filing.sweep(tree.graph) == 3, "the folder, and what was the file and its function"
    assert "folder:pkg" not in tree.uids() and filing.sweep(tree.graph) == 0
