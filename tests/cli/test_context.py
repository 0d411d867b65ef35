"""Which vault a command works on, and when a folder of notes is made one."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from vault_kg.operations.workspace import Workspace


def notes(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "a.md").write_text("# Looms\n\nOn weaving.\n")
    return folder


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *arguments],
        cwd=folder, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout


def test_the_nearest_vault_above_the_working_folder_is_meant(vault_kg, vault) -> None:
    deep = vault.root / "main" / "pages"
    done = vault_kg("status", "--json", cwd=deep)
    assert done.json["root"] == str(vault.root)


def test_a_read_indexes_a_folder_of_notes_and_says_so_once(vault_kg, tmp_path) -> None:
    folder = notes(tmp_path / "notes")
    before = (folder / "a.md").stat()
    done = vault_kg("search", "weaving", "--vault", folder)
    assert done.code == 0
    assert "Looms" in done.out
    assert len(done.err.splitlines()) == 1
    assert "is indexed now" in done.err and f"vault-kg init {folder}" in done.err
    assert (folder / ".vault-kg" / ".gitignore").read_text() == "*\n"
    assert sorted(path.name for path in folder.iterdir()) == [".vault-kg", "a.md"]
    assert (folder / "a.md").stat().st_mtime_ns == before.st_mtime_ns
    assert vault_kg("search", "weaving", "--vault", folder).err == ""


def test_indexing_a_clean_checkout_leaves_git_status_clean(vault_kg, tmp_path) -> None:
    folder = notes(tmp_path / "checkout")
    (folder / "sub").mkdir()
    (folder / "sub" / "Ünï côdé.md").write_bytes(b"\xef\xbb\xbf# Title\r\n\r\n[[a]]\r\n")
    (folder / "empty.md").write_bytes(b"")
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "all")
    head = git(folder, "rev-parse", "HEAD")
    for command in (
        ["search", "title"],
        ["status"],
        ["records", "--kind", "note"],
        ["diagnostics"],
    ):
        assert vault_kg(*command, cwd=folder).code == 0
    assert git(folder, "status", "--porcelain", "--ignored=no") == ""
    assert git(folder, "rev-parse", "HEAD") == head


@pytest.mark.parametrize(
    "arguments",
    [
        ["show", "Looms"],
        ["withdraw", "Looms", "--reason", "x", "--yes"],
        ["attach", "a.md"],
        ["adopt", "a.md"],
        ["reindex"],
        ["call", "knowledge_search", "--json", '{"query": "weaving"}'],
        ["mcp"],
    ],
)
def test_other_commands_ask_for_init(vault_kg, tmp_path, arguments) -> None:
    folder = notes(tmp_path / "notes")
    done = vault_kg(*arguments, cwd=folder)
    assert done.code == 3
    assert f"vault-kg init {folder}" in done.err + done.out
    assert not (folder / ".vault-kg").exists()


def test_the_home_folder_and_the_root_are_never_made_a_vault(
    vault_kg, monkeypatch, tmp_path
) -> None:
    home = notes(tmp_path / "home")
    monkeypatch.setenv("HOME", str(home))
    for folder in (home, Path("/")):
        done = vault_kg("status", cwd=folder)
        assert done.code == 3
        assert "--vault DIR" in done.err
    assert not (home / ".vault-kg").exists()


def test_a_folder_inside_a_vault_is_not_made_another(vault_kg, vault) -> None:
    done = vault_kg("status", "--vault", vault.root / "main")
    assert done.code == 3
    assert f"--vault {vault.root}" in done.err
    assert not (vault.root / "main" / ".vault-kg").exists()


def test_a_folder_that_is_not_there_is_not_made(vault_kg, tmp_path) -> None:
    done = vault_kg("status", "--vault", tmp_path / "tpyo")
    assert done.code == 3
    assert not (tmp_path / "tpyo").exists()


@pytest.mark.parametrize("command", [["status"], ["search", "Ada"], ["show", "Ada"], ["init"]])
def test_a_vault_that_lost_its_private_folder_names_recover(vault_kg, vault, command) -> None:
    shutil.rmtree(vault.root / ".vault-kg")
    done = vault_kg(*command, cwd=vault.root)
    assert done.code == 3
    assert f"vault-kg recover --vault {vault.root}" in done.err
    assert not (vault.root / ".vault-kg").exists()


def test_a_vault_that_was_never_looked_at_says_so_on_standard_error(vault_kg, tmp_path) -> None:
    (tmp_path / "idea.md").write_text("# Carding engines\n")
    Workspace.create(tmp_path).close()
    unread = vault_kg("search", "carding", "--no-scan", "--json", cwd=tmp_path)
    assert "not all been read yet" in unread.err
    assert unread.json["total"] == 0 and unread.json["indexing"] == {"done": 0, "total": None}
    read = vault_kg("search", "carding", "--json", cwd=tmp_path)
    assert "read yet" not in read.err and read.json["total"] == 1 and "indexing" not in read.json


def test_an_edit_is_seen_by_the_next_read_unless_told_not_to_look(vault_kg, vault) -> None:
    (vault.root / "notes" / "new.md").write_text("# Carding engines\n")
    assert "Nothing was found" in vault_kg("search", "carding", "--no-scan", cwd=vault.root).err
    assert "Carding engines" in vault_kg("search", "carding", cwd=vault.root).out


def test_the_state_may_lie_elsewhere(vault_kg, tmp_path) -> None:
    folder = notes(tmp_path / "notes")
    state = tmp_path / "elsewhere" / "state.sqlite"
    assert vault_kg("init", folder, "--state", state).code == 0
    assert state.is_file()
    assert not (folder / ".vault-kg" / "state.sqlite").exists()
    assert vault_kg("show", "a", "--vault", folder, "--state", state).code == 0
    assert vault_kg("show", "a", "--vault", folder).code == 3


def test_names_are_ids_titles_aliases_and_paths(vault_kg, vault) -> None:
    path = vault.path("ada")
    names = (
        vault["ada"], "Ada Lovelace", "ADA", str(path), str(path.relative_to(vault.root)),
    )  # fmt: skip
    for name in names:
        done = vault_kg("show", name, "--json", cwd=vault.root)
        assert done.json["id"] == vault["ada"], name
    from_below = vault_kg("show", path.name, "--json", cwd=path.parent)
    assert from_below.json["id"] == vault["ada"]


def test_an_ambiguous_name_lists_the_candidates(vault_kg, vault) -> None:
    call = '{"requestId": "r", "type": "Topic", "title": "Charles Babbage"}'
    assert vault_kg("call", "knowledge_save_page", "--json", call, cwd=vault.root).code == 0
    done = vault_kg("show", "Charles Babbage")
    assert done.code == 1
    assert done.out == ""
    assert vault["charles"] in done.err
    assert "Topic" in done.err
    assert len([line for line in done.err.splitlines() if line.startswith("  pg_")]) == 2
