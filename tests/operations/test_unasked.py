"""A vault that a read made: what its history begins with, once somebody asks for one."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.operations.builder import ANYBODY, VaultBox
from vault_kg.operations import care, registry
from vault_kg.operations.workspace import Workspace

EVERYTHING = {"lifecycle": "all", "limit": 1000}


class Found(dict[str, str]):
    """The ids of a folder's records, by what became of them."""


@pytest.fixture
def ids(vault: VaultBox) -> Found:
    kept, old, gone = vault.page("Ada"), vault.page("Babbage"), vault.page("Menabrea")
    moved, absorbed = vault.page("Engine"), vault.page("A. Lovelace")
    vault.withdraw(old)
    vault.merge(kept, absorbed)
    return Found(kept=kept, old=old, gone=gone, moved=moved, absorbed=absorbed)


@pytest.fixture
def read(vault: VaultBox, ids: Found, folder: Path) -> Iterator[Workspace]:
    """A copy of the folder, without its history and state, that was only read."""
    root = folder / "copy"
    shutil.copytree(vault.root, root, ignore=shutil.ignore_patterns(".git", ".vault-kg"))
    ws = Workspace.create(root, clock=vault.clock, asked=False)
    ws.scan()
    yield ws
    ws.close()


def ask(ws: Workspace, name: str, /, **arguments: Any) -> dict[str, Any]:
    return registry.call(ws, name, arguments, ANYBODY)


def path_of(ws: Workspace, id: str) -> Path:
    return ws.vault.root / str(ask(ws, "knowledge_get", id=id)["path"])


def edit(ws: Workspace, id: str, old: str, new: str) -> None:
    path = path_of(ws, id)
    path.write_text(path.read_text().replace(old, new))
    ws.scan()


def git(root: Path, *arguments: str) -> list[str]:
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def standing(ws: Workspace) -> dict[str, Any]:
    """Return what reads answer of every record."""
    listed = ask(ws, "knowledge_records", **EVERYTHING)["records"]
    return {row["id"]: {**row, "updatedAt": None} for row in listed}


def test_the_history_begins_with_what_stands(read: Workspace, ids: Found) -> None:
    edit(read, ids["kept"], "title: Ada", "title: Secret")
    edit(read, ids["kept"], "title: Secret", "title: Ada Lovelace")
    path_of(read, ids["gone"]).unlink()
    there = path_of(read, ids["moved"])
    there.rename(there.with_name("the-engine.md"))
    read.scan()
    before = standing(read)
    assert before[ids["kept"]]["revision"] > 2 and ids["gone"] not in before
    assert ask(read, "knowledge_status")["git"]["pending"] == 0
    assert care.begin_history(read) and not care.begin_history(read)
    assert standing(read) == before
    root = read.vault.root
    assert len(git(root, "log", "--format=%h")) == 1
    assert "Secret" not in "\n".join(git(root, "log", "-p"))
    committed = {name for name in git(root, "ls-files") if name.startswith("main/pages")}
    assert committed == {f.relative_to(root).as_posix() for f in root.glob("main/pages/**/*.md")}
    assert ask(read, "knowledge_diagnostics")["findings"] == []
    told = ask(read, "knowledge_status")["git"]
    assert (told["pending"], told["reason"], told["inNoCommit"]) == (0, None, 0)


def test_it_is_recovered_with_its_guards_and_merges(read: Workspace, ids: Found) -> None:
    edit(read, ids["kept"], "title: Ada", "title: Countess")
    before = standing(read)
    care.begin_history(read)
    edit(read, ids["moved"], "title: Engine", "title: Analytical Engine")
    root, clock = read.vault.root, read.clock
    read.close()
    shutil.rmtree(root / ".vault-kg")
    told = care.recover(root)
    assert told["unproven"] == []
    ws = Workspace.open(root, clock=clock)
    try:
        ws.scan()
        after = standing(ws)
        assert after[ids["old"]]["lifecycle"] == "withdrawn"
        assert {**after, ids["moved"]: None} == {**before, ids["moved"]: None}
        found = ask(ws, "knowledge_lookup", text=ids["absorbed"])
        assert found["record"]["id"] == ids["kept"] and found["followed"] == ids["absorbed"]
    finally:
        ws.close()


def test_what_was_read_once_only_is_left_as_it_is(read: Workspace) -> None:
    position = ask(read, "knowledge_status")["position"]
    before = ask(read, "knowledge_activity")["entries"]
    assert before[0]["git"]["state"] == "pending" and "vault-kg init" in before[0]["git"]["reason"]
    care.begin_history(read)
    after = ask(read, "knowledge_activity")
    assert after["position"] == position and len(after["entries"]) == len(before)
    assert after["entries"][0]["git"]["state"] == "committed"
