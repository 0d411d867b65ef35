"""`correct`: a complete replacement, composed from what stands."""

from __future__ import annotations

import json

WHY = ("--reason", "closer reading")


def test_a_claim_is_replaced_and_keeps_what_was_not_said(vault_kg, vault) -> None:
    done = vault_kg(
        "correct", vault["claim"], "--statement", "Ada translated the article.", *WHY,
        "--evidence", f"{vault['source']}:1-2", "--quote", "wrote the notes", "--yes", "--json",
        cwd=vault.root,
    )  # fmt: skip
    assert done.code == 0, done.err
    new = vault_kg("show", done.json["replacementId"], "--json").json
    assert new["body"] == "Ada translated the article."
    assert new["supersedes"] == vault["claim"]
    assert (new["type"], new["owner"], new["confidence"]) == ("fact", vault["ada"], 0.9)
    assert new["entities"] == [vault["engine"]]
    assert [(e["lines"], e["quote"]) for e in new["evidence"]] == [("1-2", "wrote the notes")]
    old = vault_kg("show", vault["claim"], "--json").json
    assert (old["lifecycle"], old["body"]) == ("superseded", "Ada wrote the notes.")


def test_it_shows_old_and_new_and_the_impact_and_asks(vault_kg, vault) -> None:
    asked = (
        "correct", vault["knows"], "--fact", "They met in 1834.", *WHY, "--same-evidence",
        "--valid-from", "1834-06-05",
    )  # fmt: skip
    refused = vault_kg(*asked, cwd=vault.root, input="no\n")
    assert refused.code == 1
    for expected in (
        "- They met in 1833.",
        "+ They met in 1834.",
        "1834-06-05",
        "Nothing stands on it.",
    ):
        assert expected in refused.err
    assert vault_kg(*asked, input="yes\n").code == 0
    assert "1834" in vault_kg("connections", "Ada").out


def test_names_may_be_given_for_pages(vault_kg, vault) -> None:
    done = vault_kg(
        "correct", vault["claim"], "--statement", "Charles did.", *WHY, "--same-evidence",
        "--owner", "Charles Babbage", "--yes", "--json", cwd=vault.root,
    )  # fmt: skip
    assert vault_kg("show", done.json["replacementId"], "--json").json["owner"] == vault["charles"]


def test_a_merged_owner_is_followed(vault_kg, vault) -> None:
    merge = ("merge", "Countess of Lovelace", "Ada Lovelace", "--reason", "one person", "--yes")
    assert vault_kg(*merge, cwd=vault.root).code == 0
    done = vault_kg(
        "correct",
        vault["claim"],
        "--statement",
        "She did.",
        *WHY,
        "--same-evidence",
        "--yes",
        "--json",
    )
    assert done.code == 0, done.err
    assert vault_kg("show", done.json["replacementId"], "--json").json["owner"] == vault["countess"]


def test_evidence_is_needed_and_said_how(vault_kg, vault) -> None:
    done = vault_kg("correct", vault["claim"], "--statement", "x", *WHY, "--yes", cwd=vault.root)
    assert done.code == 2
    assert "--same-evidence" in done.err
    quote = vault_kg("correct", vault["claim"], "--statement", "x", *WHY, "--yes", "--quote", "y")
    assert quote.code == 2
    wrong = vault_kg(
        "correct", vault["claim"], "--statement", "x", *WHY, "--yes", "--evidence", vault["source"],
        "--quote", "never said",
    )  # fmt: skip
    assert wrong.code == 1
    assert "quote" in wrong.err


def test_what_belongs_to_the_other_kind_is_wrong_usage(vault_kg, vault) -> None:
    for record, option in (("claim", "--fact"), ("knows", "--statement"), ("claim", "--to")):
        done = vault_kg(
            "correct", vault[record], option, "x", *WHY, "--same-evidence", "--yes", cwd=vault.root
        )
        assert done.code == 2
        assert f"{option} is for a" in done.err


def test_nothing_said_is_wrong_usage_where_nobody_can_be_asked(vault_kg, vault) -> None:
    done = vault_kg("correct", vault["claim"], *WHY, "--same-evidence", "--yes", cwd=vault.root)
    assert done.code == 2
    assert "--statement" in done.err


def test_a_page_is_refused_and_told_how(vault_kg, vault) -> None:
    done = vault_kg(
        "correct",
        "Ada",
        "--statement",
        "x",
        *WHY,
        "--same-evidence",
        "--yes",
        "--json",
        cwd=vault.root,
    )
    assert (done.code, done.json["error"]["code"]) == (1, "invalid_argument")
    assert "knowledge_save_page" in json.dumps(done.json)


def test_an_expired_claim_is_corrected_by_one_that_stands(vault_kg, vault) -> None:
    made = {
        "requestId": "old", "claimKind": "commitment", "owner": vault["ada"],
        "statement": "She will come.", "expiresAt": "2020-01-01", "validUntil": "2019-01-01",
        "evidence": [{"source": vault["source"]}],
    }  # fmt: skip
    claim = vault_kg("call", "knowledge_save_claim", "--json", json.dumps(made), cwd=vault.root)
    done = vault_kg(
        "correct", claim.json["targetId"], "--statement", "She came.", *WHY, "--same-evidence",
        "--valid-until", "", "--yes", "--json",
    )  # fmt: skip
    assert done.code == 0, done.out
    new = vault_kg("show", done.json["replacementId"], "--json").json
    assert new["eligible"]
    assert (new["expiresAt"], new["validUntil"]) == (None, None)
