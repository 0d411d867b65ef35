"""`review`: three versions, and a person's choice."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time

import pytest


@pytest.fixture
def conflict_id(vault, vault_kg, environment, tmp_path) -> str:
    """The id of a conflict: a title is being changed by an agent while a person edits the file."""
    view = vault_kg("show", vault["ada"], "--json", cwd=vault.root).json
    given = {
        "requestId": "agent", "id": view["id"], "expectedRevision": view["revision"],
        "expectedHash": view["hash"], "body": "An agent's words.",
    }  # fmt: skip
    gate = tmp_path / "gate"
    agent = subprocess.Popen(
        [sys.executable, "-m", "vault_kg.cli", "call", "knowledge_save_page", "--json",
         json.dumps(given), "--vault", str(vault.root), "--no-scan"],
        env=environment | {"VAULT_KG_FAILPOINT": f"accept.after=pause:{gate}"},
        stdout=subprocess.PIPE,
    )  # fmt: skip
    deadline = time.monotonic() + 30
    while not gate.with_name("gate.reached").exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    path = vault.path("ada")
    path.write_text(path.read_text().replace("Friend of", "A person's words on"))
    gate.touch()
    said = json.loads(agent.communicate(timeout=30)[0])
    assert agent.returncode == 1
    assert said["error"]["code"] == "conflict_blocked"
    found = vault_kg("diagnostics", "--section", "conflicts").out
    return re.findall(r"cf_\d+_\d+", found)[0]


def test_conflicts_are_listed_and_shown_with_all_three_versions(
    vault_kg, vault, conflict_id
) -> None:
    blocked = vault_kg("show", vault["ada"])
    assert blocked.code == 1
    assert conflict_id in blocked.err
    assert conflict_id in vault_kg("review").out
    shown = vault_kg("review", conflict_id).out
    for expected in (
        "knowledge_save_page by cli", "What the request proposed", "+An agent's words.",
        "What somebody's edit made", "+A person's words on", "-Friend of", "--keep-disk",
    ):  # fmt: skip
        assert expected in shown, expected
    view = vault_kg("review", conflict_id, "--json").json
    assert "A person's words" in view["displaced"]


def test_keeping_what_is_on_disk(vault_kg, vault, conflict_id) -> None:
    done = vault_kg("review", conflict_id, "--keep-disk", "--reason", "the person is right")
    assert done.code == 0, done.err
    assert "A person's words" in vault_kg("show", vault["ada"]).out
    again = vault_kg("review", conflict_id, "--keep-disk", "--reason", "again")
    assert again.code == 1
    assert "resolved" in again.err


def test_applying_a_merged_file(vault_kg, vault, conflict_id, tmp_path) -> None:
    merged = tmp_path / "merged.md"
    merged.write_text(vault.path("ada").read_text() + "An agent's words.\n")
    done = vault_kg("review", conflict_id, "--merged", merged, "--reason", "both", "--json")
    assert done.code == 0, done.out
    shown = vault_kg("show", vault["ada"]).out
    assert "A person's words" in shown
    assert "An agent's words." in shown


def test_a_choice_needs_a_reason_and_is_one(vault_kg, vault) -> None:
    assert vault_kg("review", "cf_1_0", "--keep-disk", cwd=vault.root).code == 2
    assert (
        vault_kg("review", "cf_1_0", "--keep-disk", "--apply-proposed", "--reason", "x").code == 2
    )
    assert vault_kg("review", "--keep-disk", "--reason", "x").code == 2
    unknown = vault_kg("review", "cf_1_0")
    assert (unknown.code, unknown.out) == (1, "")
    assert vault_kg("review").out == "No conflict waits for you.\n"
