"""`merge` and `unmerge`."""

from __future__ import annotations

WHY = ("--reason", "the registry says so")


def test_merge_shows_gains_and_impact_and_asks(vault_kg, vault) -> None:
    asked = ("merge", "Ada", "Countess of Lovelace", *WHY)
    refused = vault_kg(*asked, cwd=vault.root, input="\n")
    assert refused.code == 1
    for expected in ("stays, and absorbs", "gains aliases", "gains tags", "noble", "gains died"):
        assert expected in refused.err, expected
    done = vault_kg(*asked, input="y\n")
    assert done.code == 0
    assert "gained aliases: Countess of Lovelace" in done.out
    assert vault_kg("lookup", "Countess of Lovelace").out.split()[0] == vault["ada"]


def test_a_difference_is_shown_before_and_after(vault_kg, vault) -> None:
    path = vault.path("countess")
    path.write_text(path.read_text().replace("died:", "born: 1815-12-11\n  died:"))
    asked = ("merge", "Ada", "Countess of Lovelace", *WHY)
    before = vault_kg(*asked, cwd=vault.root, input="n\n")
    assert "born stays 1815-12-10, not 1815-12-11" in before.err
    after = vault_kg(*asked, "--yes")
    assert "born stays 1815-12-10; the absorbed page says 1815-12-11" in after.out


def test_unmerge_takes_it_back(vault_kg, vault) -> None:
    vault_kg("merge", "Ada", "Countess of Lovelace", *WHY, "--yes", cwd=vault.root)
    done = vault_kg("unmerge", vault["countess"], "--reason", "two after all", "--yes")
    assert done.code == 0, done.err
    assert vault_kg("lookup", "Countess of Lovelace").out.split()[0] == vault["countess"]


def test_pages_of_two_types_are_refused(vault_kg, vault) -> None:
    done = vault_kg("merge", "Ada", "Analytical Engine", *WHY, "--yes", cwd=vault.root)
    assert done.code == 1
    assert "one type" in done.err


def test_identity_evidence_is_kept(vault_kg, vault) -> None:
    done = vault_kg(
        "merge", "Ada", "Countess of Lovelace", *WHY, "--evidence", f"{vault['source']}:1", "--yes",
        cwd=vault.root,
    )  # fmt: skip
    assert done.code == 0
    shown = vault_kg("show", "Ada", "--json").json
    assert vault["source"] in [item["source"] for item in shown["evidence"]]
