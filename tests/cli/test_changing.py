"""`withdraw`, `restore`, `resume`: asked before, told after, repeatable."""

from __future__ import annotations

import subprocess


def test_withdraw_shows_the_impact_and_asks(vault_kg, vault) -> None:
    refused = vault_kg("withdraw", "Ada", "--reason", "a test", cwd=vault.root, input="n\n")
    assert refused.code == 1
    assert refused.out == ""
    assert "Withdraw it for good? [y/N]" in refused.err
    assert vault["claim"] in refused.err
    assert "Nothing was changed." in refused.err
    silent = vault_kg("withdraw", "Ada", "--reason", "a test", input="")
    assert silent.code == 1
    assert "--yes" in silent.err
    assert vault_kg("lookup", "Ada").code == 0
    done = vault_kg("withdraw", "Ada", "--reason", "a test", input="y\n")
    assert done.code == 0
    assert "withdraw  main/pages/person/ada-lovelace.md" in done.out
    assert "committed" in done.out
    assert vault_kg("lookup", "Ada").code == 1


def test_a_repeated_request_gives_its_receipt_and_asks_nothing(vault_kg, vault) -> None:
    asked = ("withdraw", vault["claim"], "--reason", "no", "--request-id", "r1", "--json")
    first = vault_kg(*asked, "--yes", cwd=vault.root)
    assert (first.code, first.json["requestId"]) == (0, "r1")
    again = vault_kg(*asked, input="")
    assert (again.code, again.json) == (0, first.json)
    new = vault_kg("withdraw", vault["claim"], "--reason", "no", "--yes")
    assert new.code == 1
    assert "withdrawn already" in new.err


def test_a_reason_is_needed(vault_kg, vault) -> None:
    assert vault_kg("withdraw", "Ada", "--yes", cwd=vault.root).code == 2
    blank = vault_kg("withdraw", "Ada", "--yes", "--reason", "  ")
    assert blank.code == 1
    assert "reason" in blank.err


def test_restore_brings_a_deleted_file_back(vault_kg, vault) -> None:
    path = vault.path("ada")
    content = path.read_bytes()
    path.unlink()
    missing = vault_kg("show", vault["ada"], cwd=vault.root)
    assert missing.code == 1
    assert f"vault-kg restore {vault['ada']}" in missing.err
    assert vault_kg("restore", vault["ada"]).code == 0
    assert path.read_bytes() == content


def test_resume_finishes_what_was_accepted_before_a_crash(vault_kg, vault, environment) -> None:
    import sys

    crashed = subprocess.run(
        [sys.executable, "-m", "vault_kg.cli", "withdraw", vault["claim"], "--reason", "no",
         "--yes", "--request-id", "r1"],
        cwd=vault.root, env=environment | {"VAULT_KG_FAILPOINT": "accept.after"}, check=False,
        capture_output=True,
    )  # fmt: skip
    assert crashed.returncode == 77
    done = vault_kg("resume", "r1", cwd=vault.root)
    assert done.code == 0
    assert "the request is published" in done.out
    assert vault_kg("resume", "r1", "--json").json["receipt"]["targetId"] == vault["claim"]
    unknown = vault_kg("resume", "r2")
    assert unknown.code == 1
    assert "send it again" in unknown.err
