"""A graph that followed edits of real code is the one that is made of it anew."""

from __future__ import annotations

import random
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.operations.conftest import fast_folder
from vault_kg.extract import filing, uids
from vault_kg.extract.backends.protocol import GraphBackend
from vault_kg.extract.backends.sqlite import SqliteBackend
from vault_kg.extract.indexing import Indexing, Report
from vault_kg.extract.roots import Root
from vault_kg.extract.updating import rules

OURS = Path(__file__).parents[2] / "vault_kg"
CHOSEN = ("records", "state", "errors.py", "__init__.py")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    made = tmp_path / "tree/vault_kg"
    for name in CHOSEN:
        copy: Any = shutil.copytree if (OURS / name).is_dir() else shutil.copy
        made.mkdir(parents=True, exist_ok=True)
        copy(OURS / name, made / name)
    return made.parent


def index(graph: GraphBackend, tree: Path) -> Report:
    report = Indexing(graph, Root("code", tree), rules(), lambda: "now").everything()
    filing.sweep(graph)
    return report


def content(graph: GraphBackend) -> tuple[set[Any], set[Any]]:
    reader = graph.reader(None)
    rows = {row.key: row for row in reader.every_node()}
    edges = {
        (rows[e.id.source].node.uid, rows[e.id.target].node.uid, *e.id[2:], *e[1:])
        for e in reader.every_edge()
    }
    return {(row.node, row.stub) for row in rows.values()}, edges


def edit(tree: Path, chance: random.Random) -> None:
    """Rename a function or class, move a file, or delete one."""
    file = chance.choice(sorted(tree.rglob("*.py")))
    text = file.read_text()
    names = re.findall(r"^\s*(?:def|class) (\w+)", text, re.MULTILINE)
    if chance.random() < 0.15:
        file.unlink()
    elif chance.random() < 0.15:
        file.rename(file.with_name(f"moved_{file.name}"))
    elif names:
        name = chance.choice(names)
        file.write_text(re.sub(rf"\b(def|class) {name}\b", rf"\1 {name}_x", text))


@pytest.mark.parametrize("seed", range(3))
def test_following_edits_gives_the_graph_of_the_tree(tree: Path, seed: int) -> None:
    chance = random.Random(seed)
    with fast_folder() as folder:
        followed = SqliteBackend(Path(folder) / "followed.sqlite")
        first = index(followed, tree)
        assert first.read > 30 and first.failed == 0 and index(followed, tree).linked == 0
        for _ in range(3):
            for _ in range(4):
                edit(tree, chance)
            report = index(followed, tree)
            assert report.read <= 5, "only what was edited is read"
        fresh = SqliteBackend(Path(folder) / "fresh.sqlite")
        index(fresh, tree)
        assert content(followed) == content(fresh)
        followed.close()
        fresh.close()


def test_no_uid_has_a_line_and_all_are_well_formed(tree: Path) -> None:
    with fast_folder() as folder:
        graph = SqliteBackend(Path(folder) / "graph.sqlite")
        index(graph, tree)
        before = {node.uid for node, stub in content(graph)[0] if not stub}
        assert all(uids.is_well_formed(uid) for uid in before)
        for file in tree.rglob("*.py"):
            file.write_text(
                "# one line more\n\n"
                + file.read_text().replace("from __future__", "\nfrom __future__")
            )
        assert index(graph, tree).read > 30
        assert {node.uid for node, stub in content(graph)[0] if not stub} == before
        graph.close()


def test_a_package_that_is_a_root_is_resolved_by_its_own_name(tree: Path) -> None:
    with fast_folder() as folder:
        whole = SqliteBackend(Path(folder) / "whole.sqlite")
        inner = SqliteBackend(Path(folder) / "inner.sqlite")
        index(whole, tree)
        index(inner, tree / "vault_kg")
        sure = [
            {
                (source.replace("vault_kg/", ""), target.replace("vault_kg/", ""), kind, confidence)
                for source, target, kind, _, confidence, *_ in content(graph)[1]
                if kind in ("calls", "inherits")
            }
            for graph in (whole, inner)
        ]
        assert sure[0] == sure[1]
        whole.close()
        inner.close()
