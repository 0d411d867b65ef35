"""`init`, `reindex`, `backup`, `recover`, `watch`."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys


def test_init_says_what_was_found_and_what_to_do_next(vault_kg, tmp_path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("# A\n\n[[missing]]\n")
    done = vault_kg("init", folder)
    assert done.code == 0
    assert f"{folder} is a vault now" in done.out
    assert "Found 1 note." in done.out
    assert "1 finding(s)" in done.out
    assert "vault-kg mcp --print-config" in done.out
    assert not (folder / ".git").exists()


def test_init_makes_the_folder_and_refuses_a_vault(vault_kg, tmp_path) -> None:
    new = tmp_path / "deep" / "new"
    assert vault_kg("init", new, "--json").json["records"]["page"] == 0
    again = vault_kg("init", new, "--json")
    assert (again.code, again.json["error"]["code"]) == (1, "invalid_argument")
    inside = vault_kg("init", new / "inner")
    assert inside.code == 1
    assert "cannot hold another" in inside.err
    file = tmp_path / "file"
    file.touch()
    assert vault_kg("init", file).code == 1


def test_reindex_answers_as_before(vault_kg, vault) -> None:
    asked = (
        ["records", "--lifecycle", "all", "--json"],
        ["search", "notes", "--json"],
        ["diagnostics", "--json"],
    )
    before = [vault_kg(*command, cwd=vault.root).json for command in asked]
    untouched = vault.git("status", "--porcelain")
    done = vault_kg("reindex")
    assert done.code == 0
    assert "indexed 4 pages, 1 claim, 1 relationship, 1 note" in done.out
    assert [vault_kg(*command).json for command in asked] == before
    assert vault.git("status", "--porcelain") == untouched


def test_backup_is_a_whole_database_and_replaces_nothing(vault_kg, vault, tmp_path) -> None:
    target = tmp_path / "state-backup.sqlite"
    assert vault_kg("backup", target, cwd=vault.root).code == 0
    database = sqlite3.connect(target)
    assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert database.execute("SELECT count(*) FROM revision").fetchone()[0] >= 6
    database.close()
    assert vault_kg("backup", target).code == 1
    nowhere = vault_kg("backup", tmp_path / "no" / "folder.sqlite", "--json")
    assert (nowhere.code, nowhere.json["error"]["code"]) == (1, "write_failed")
    assert list(tmp_path.glob(".*partial")) == []


def test_recover_brings_a_lost_state_back(vault_kg, vault) -> None:
    vault_kg("withdraw", vault["claim"], "--reason", "no", "--yes", cwd=vault.root)
    expected = vault_kg("records", "--lifecycle", "all", "--json").json["records"]
    assert vault_kg("recover").code == 3, "a state that is there is never replaced"
    shutil.rmtree(vault.root / ".vault-kg")
    done = vault_kg("recover")
    assert done.code == 0, done.err
    assert "recovered" in done.out
    assert vault_kg("records", "--lifecycle", "all", "--json").json["records"] == expected


def test_watch_tells_what_was_saved(vault, environment, vault_kg) -> None:
    watcher = subprocess.Popen(
        [sys.executable, "-m", "vault_kg.cli", "watch", "--json"],
        cwd=vault.root, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert watcher.stdout is not None and watcher.stderr is not None
    try:
        watcher.stderr.readline()
        (vault.root / "notes" / "fresh.md").write_text("# Fresh\n\nCarding engines.\n")
        told = json.loads(watcher.stdout.readline())
        assert told["changed"] in (["notes/fresh.md"], [])
        assert "fresh" in vault_kg("search", "carding", "--no-scan", cwd=vault.root).out
    finally:
        os.kill(watcher.pid, signal.SIGTERM)
        watcher.communicate(timeout=30)
