"""`show`: one record as a person wants to see it."""

from __future__ import annotations

import json

RED = "\x1b[31mred\x1b[0m"


def save(vault_kg, vault, **page: object) -> str:
    given = json.dumps({"requestId": "made", "type": "Topic", **page})
    done = vault_kg("call", "knowledge_save_page", "--json", given, cwd=vault.root)
    assert done.code == 0, done.out
    return str(done.json["targetId"])


def test_a_page_shows_its_fields_claims_with_evidence_and_connections(vault_kg, vault) -> None:
    shown = vault_kg("show", "Ada", cwd=vault.root)
    assert shown.code == 0
    for expected in (
        "Ada Lovelace  Person (page)",
        f"{vault['ada']} · revision 1 · main/pages/person/ada-lovelace.md",
        "active, seen by default reads",
        "Wrote the notes.",
        "born",
        "Claims (1)",
        "“Ada wrote the notes.”",
        f"— notes.txt, line 1 ({vault['source']})",
        "→ knows Charles Babbage",
        "They met in 1833.",
        "→ wikilink Charles Babbage",
    ):
        assert expected in shown.out, expected


def test_a_claim_shows_its_owner_and_its_evidence(vault_kg, vault) -> None:
    shown = vault_kg("show", vault["claim"], cwd=vault.root).out
    assert f"owner       {vault['ada']}" in shown
    assert "confidence  0.9" in shown
    assert "Evidence (1)" in shown


def test_a_hidden_record_says_why(vault_kg, vault) -> None:
    vault_kg("withdraw", "Ada", "--reason", "a test", "--yes", cwd=vault.root)
    shown = vault_kg("show", vault["claim"], cwd=vault.root)
    assert shown.code == 0
    assert "active, not seen by default reads" in shown.out
    assert vault["ada"] in shown.out
    withdrawn = vault_kg("show", vault["ada"]).out
    assert "withdrawn, not seen by default reads" in withdrawn
    assert "a test" in withdrawn


def test_a_record_as_it_stood(vault_kg, vault) -> None:
    vault.path("ada").write_text(vault.path("ada").read_text().replace("Friend of", "Foe of"))
    now = vault_kg("show", "Ada", cwd=vault.root).out
    assert "Foe of" in now
    assert "revision 2" in now
    for option in (["--revision", "1"], ["--as-of", "1"], ["--commit", "HEAD~1"]):
        then = vault_kg("show", "Ada", *option)
        assert then.code == 0, (option, then.err)
        assert "Friend of" in then.out
        assert "as it stood" in then.out
    assert vault_kg("show", "Ada", "--revision", "1", "--commit", "HEAD").code == 2


def test_a_source_shows_what_it_says(vault_kg, vault) -> None:
    shown = vault_kg("show", vault["source"], cwd=vault.root)
    assert "notes.txt" in shown.out
    assert "verified" in shown.out
    assert "Babbage built the engine." in shown.out


def test_a_note_is_shown_by_its_path(vault_kg, vault) -> None:
    shown = vault_kg("show", "notes/idea.md", cwd=vault.root).out
    assert "a note, not adopted" in shown
    assert "On [[Ada]]" in shown


def test_text_of_records_never_reaches_the_terminal_as_commands(vault_kg, vault) -> None:
    note = vault.root / "notes" / "evil.md"
    note.write_text(
        f"# {RED} \x9b31m \x1b]0;title\x07 \u202egnp.exe\n\n[bold]{RED}[/bold] \x07\x08\r.\n"
    )
    save(vault_kg, vault, title="Plain", body=f"Text {note.name} \u202ereversed")
    for command in (
        ["show", "notes/evil.md"],
        ["show", "Plain"],
        ["search", "red"],
        ["search", "bold"],
    ):
        shown = vault_kg(*command, cwd=vault.root)
        assert shown.code == 0
        assert not set(shown.out) & set("\x1b\x07\x08\x9b\u202e\r"), command
    assert "[bold]␛[31mred␛[0m[/bold] ␇␈␍." in vault_kg("show", "notes/evil.md").out


def test_json_is_the_result_of_the_operation(vault_kg, vault) -> None:
    shown = vault_kg("show", "Ada", "--json", cwd=vault.root).json
    call = vault_kg("call", "knowledge_get", "--json", json.dumps({"id": vault["ada"]})).json
    assert shown == call


def test_a_withdrawn_record_is_shown_by_its_name_and_path_where_no_current_one_has_it(
    vault_kg, vault
) -> None:
    path = vault.path("engine").relative_to(vault.root)
    vault_kg("withdraw", "Analytical Engine", "--reason", "a test", "--yes", cwd=vault.root)
    for name in ("Analytical Engine", path):
        shown = vault_kg("show", name)
        assert shown.code == 0 and "withdrawn, not seen by default reads" in shown.out
        assert "knowledge_withdraw" in vault_kg("history", name).out
        refused = vault_kg("lookup", name)
        assert refused.code == 1 and "was withdrawn" in refused.err
        assert vault["engine"] in refused.err
        assert vault_kg("impact", name).code == 1
    other = save(vault_kg, vault, title="Analytical Engine")
    assert vault_kg("show", "Analytical Engine", "--json").json["id"] == other
    again = vault_kg("withdraw", other, "--reason", "a test", "--yes")
    assert again.code == 0, again.err
    both = vault_kg("show", "Analytical Engine")
    assert both.code == 1 and other in both.err and vault["engine"] in both.err


def test_titles_that_differ_in_what_cannot_be_seen_are_not_printed_alike(vault_kg, vault) -> None:
    for number, title in enumerate(["payevil", "pay\u202eevil", "pay\u200bevil"]):
        given = json.dumps({"requestId": f"r{number}", "type": "Topic", "title": title})
        assert vault_kg("call", "knowledge_save_page", "--json", given, cwd=vault.root).code == 0
    listed = vault_kg("records", "--type", "Topic").out
    for shown in ("payevil", "pay⟦U+202E⟧evil", "pay⟦U+200B⟧evil"):
        assert shown in listed
    exact = vault_kg("records", "--type", "Topic", "--json").json["records"]
    assert {"pay\u202eevil", "pay\u200bevil"} < {r["title"] for r in exact}
