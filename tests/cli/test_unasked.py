"""A read in a folder that nobody made a vault: it answers, and Git has no part in it."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import SmallVault

READS = (
    ["search", "notes"],
    ["status"],
    ["records"],
    ["lookup", "Ada Lovelace"],
    ["show", "Ada Lovelace"],
    ["history", "Ada Lovelace"],
    ["diagnostics"],
    ["call", "knowledge_search", "--json", '{"query": "notes"}'],
)


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *arguments],
        cwd=folder, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout


def commit_all(folder: Path) -> str:
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "all")
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def folder(vault: SmallVault) -> SmallVault:
    """A folder with records, and nothing of what makes it a vault."""
    shutil.rmtree(vault.root / ".vault-kg")
    shutil.rmtree(vault.root / ".git")
    return vault


def edit(folder: SmallVault, old: str, new: str) -> None:
    path = folder.path("ada")
    path.write_bytes(path.read_bytes().replace(old.encode(), new.encode()))


def read_all(vault_kg: Any, folder: SmallVault) -> None:
    for command in READS:
        done = vault_kg(*command, cwd=folder.root)
        assert done.code == 0, (command, done)


def test_reads_answer_from_its_records_and_make_no_repository(vault_kg, folder) -> None:
    first = vault_kg("search", "notes", "--json", cwd=folder.root)
    assert folder["claim"] in {hit["id"] for hit in first.json["hits"]}
    assert f"vault-kg init {folder.root}" in first.err
    read_all(vault_kg, folder)
    edit(folder, "Friend of", "Colleague of")
    read_all(vault_kg, folder)
    found = vault_kg("search", "colleague", "--json", cwd=folder.root).json["hits"]
    assert [hit["id"] for hit in found] == [folder["ada"]]
    status = vault_kg("status", "--json", cwd=folder.root).json
    assert status["git"]["pending"] == 0 and "vault-kg init" in status["git"]["reason"]
    assert not (folder.root / ".git").exists()


def test_a_repository_of_the_person_gets_no_commit(vault_kg, folder) -> None:
    head = commit_all(folder.root)
    read_all(vault_kg, folder)
    assert git(folder.root, "status", "--porcelain") == ""
    edit(folder, "Friend of", "Colleague of")
    read_all(vault_kg, folder)
    assert git(folder.root, "rev-parse", "HEAD") == head
    path = folder.path("ada").relative_to(folder.root).as_posix()
    assert git(folder.root, "status", "--porcelain") == f" M {path}\n"


def test_nor_does_a_repository_around_it(vault_kg, folder) -> None:
    around = folder.root.parent
    head = commit_all(around)
    read_all(vault_kg, folder)
    assert git(around, "rev-parse", "HEAD") == head
    assert git(around, "status", "--porcelain") == ""
    assert not (folder.root / ".git").exists()


def test_records_that_come_into_a_folder_of_notes_are_not_committed(
    vault_kg, folder, tmp_path
) -> None:
    notes = tmp_path / "only-notes"
    notes.mkdir()
    (notes / "a.md").write_text("# Looms\n")
    assert vault_kg("search", "looms", cwd=notes).code == 0
    shutil.copytree(folder.root / "main", notes / "main")
    assert vault_kg("status", "--json", cwd=notes).json["records"]["page"] == 4
    assert not (notes / ".git").exists()


def test_init_begins_the_history(vault_kg, folder) -> None:
    assert vault_kg("status", cwd=folder.root).code == 0
    made = vault_kg("init", folder.root)
    assert made.code == 0 and "is a vault now" in made.out
    assert git(folder.root, "log", "--format=%an %s").startswith("editor add: ")
    listed = git(folder.root, "ls-files")
    assert ".vault-kg/vault.toml" in listed
    assert folder.path("ada").relative_to(folder.root).as_posix() in listed
    edit(folder, "Friend of", "Colleague of")
    assert vault_kg("status", cwd=folder.root).code == 0
    assert len(git(folder.root, "log", "--format=%s").splitlines()) == 2
    assert vault_kg("init", folder.root).code == 1


def test_a_write_begins_it_and_a_refused_one_does_not(vault_kg, folder) -> None:
    assert vault_kg("status", cwd=folder.root).code == 0
    page = {"requestId": "n", "type": "Person", "title": "Somebody"}
    refused = vault_kg("call", "knowledge_save_page", "--json",
                       json.dumps({**page, "fields": {"born": "in no year"}}),
                       cwd=folder.root)  # fmt: skip
    assert refused.code == 1 and not (folder.root / ".git").exists()
    saved = vault_kg("call", "knowledge_save_page", "--json", json.dumps(page), cwd=folder.root)
    assert saved.json["git"]["state"] == "committed"
    assert git(folder.root, "log", "--format=%s").splitlines()[1].startswith("add: ")
    edit(folder, "Friend of", "Colleague of")
    assert vault_kg("status", cwd=folder.root).code == 0
    assert git(folder.root, "log", "-1", "--format=%s") == "edit: Ada Lovelace\n"


def test_what_stood_there_before_the_history_began_is_not_in_it(vault_kg, folder) -> None:
    edit(folder, "Friend of", "A secret of")
    assert vault_kg("search", "secret", cwd=folder.root).code == 0
    edit(folder, "A secret of", "Friend of")
    assert vault_kg("status", cwd=folder.root).code == 0
    seen = vault_kg("show", folder["ada"], "--json", cwd=folder.root).json
    assert seen["revision"] == 2
    change = {"requestId": "c", "id": folder["ada"], "expectedRevision": 2,
              "expectedHash": seen["hash"],
              "edits": [{"find": "Friend", "replace": "A friend"}]}  # fmt: skip
    done = vault_kg("call", "knowledge_edit_body", "--json", json.dumps(change), cwd=folder.root)
    assert done.code == 0, done
    log = git(folder.root, "log", "-p")
    assert "A friend" in log and "secret" not in log
    assert len(git(folder.root, "log", "--format=%s").splitlines()) == 2
    told = vault_kg("diagnostics", "--json", cwd=folder.root).json["findings"]
    assert [one["code"] for one in told] == ["unresolved_link"] * len(told)
    records = vault_kg("records", "--json", cwd=folder.root).json
    shutil.rmtree(folder.root / ".vault-kg")
    assert vault_kg("recover", cwd=folder.root).code == 0
    assert vault_kg("records", "--json", cwd=folder.root).json == records
    assert git(folder.root, "status", "--porcelain") == "?? notes/\n"


def test_a_clone_of_a_vault_names_recover_and_stays_clean(vault_kg, vault, tmp_path) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(vault.root), str(clone))
    for command in (["search", "Ada"], ["status"], ["init"]):
        said = vault_kg(*command, cwd=clone)
        assert said.code == 3 and f"vault-kg recover --vault {clone}" in said.err, said
    assert vault_kg("recover", cwd=clone).code == 0
    head = git(clone, "rev-parse", "HEAD")
    read_all(vault_kg, SmallVault(clone, vault.ids))
    assert git(clone, "status", "--porcelain") == ""
    assert git(clone, "rev-parse", "HEAD") == head
