"""`search`, `records`, `lookup`, `connections`, `history`."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys


def test_search_shows_the_passage_and_why(vault_kg, vault) -> None:
    found = vault_kg("search", "wrote", "notes", cwd=vault.root)
    assert found.code == 0
    assert " 1. " in found.out
    assert vault["claim"] in found.out
    assert "words: " in found.out
    assert "\x1b" not in found.out


def test_search_takes_any_words(vault_kg, vault) -> None:
    for query in ('"', "AND", "*", "-", "a:b:c", "🧵", "x" * 5000, "-- --limit"):
        found = vault_kg("search", "--", query, cwd=vault.root)
        assert found.code == 0, (query[:20], found.err)


def test_a_word_with_a_dash_excludes_wherever_it_stands(vault_kg, vault) -> None:
    whole = vault_kg("search", "Ada", "--json", cwd=vault.root).json["total"]
    for words in (["Ada", "-notes"], ["-notes", "Ada"], ["--", "Ada", "-notes"], ["Ada -notes"]):
        found = vault_kg("search", "--json", *words, "--limit", "5") if "--" not in words else (
            vault_kg("search", "--json", *words)
        )  # fmt: skip
        assert found.code == 0 and 0 < found.json["total"] < whole, words
    assert vault_kg("search", "Ada", "--limt", "5").code == 2
    assert vault_kg("search", "-h").code == 0


def test_search_filters(vault_kg, vault) -> None:
    claims = vault_kg("search", "Ada", "--kind", "claim", "--json", cwd=vault.root).json
    assert [hit["id"] for hit in claims["hits"]] == [vault["claim"]]
    notes = vault_kg("search", "weaving", "--kind", "note").out
    assert "notes/idea.md" in notes
    nothing = vault_kg("search", "zxqv")
    assert (nothing.code, nothing.out) == (0, "")
    assert "Nothing was found" in nothing.err


def test_records_is_a_table_whose_ids_are_whole(vault_kg, vault) -> None:
    listed = vault_kg("records", cwd=vault.root)
    assert listed.code == 0
    rows = {line.split()[0]: line for line in listed.out.splitlines()}
    assert set(rows) == {i for name, i in vault.ids.items() if name != "source"}
    assert rows[vault["ada"]].endswith("Ada Lovelace")
    people = vault_kg("records", "--type", "person")
    assert vault["engine"] not in people.out
    assert vault["ada"] in people.out
    owned = vault_kg("records", "--owner", "Ada").out
    assert owned.split()[0] == vault["claim"]


def test_records_pages_with_a_cursor(vault_kg, vault) -> None:
    seen: list[str] = []
    cursor: list[str] = []
    while True:
        page = vault_kg("records", "--limit", "2", "--json", *cursor, cwd=vault.root).json
        seen += [record["id"] for record in page["records"]]
        if page["nextCursor"] is None:
            break
        cursor = ["--cursor", page["nextCursor"]]
    assert len(seen) == len(set(seen)) == page["total"]
    assert "more with --cursor" in vault_kg("records", "--limit", "2").err


def test_records_shows_history_when_asked(vault_kg, vault) -> None:
    vault_kg("withdraw", vault["claim"], "--reason", "no", "--yes", cwd=vault.root)
    assert vault["claim"] not in vault_kg("records").out
    assert "withdrawn" in vault_kg("records", "--lifecycle", "all").out
    then = vault_kg("records", "--as-of", "commit:HEAD~1", "--kind", "claim")
    assert vault["claim"] in then.out


def test_lookup_is_exact(vault_kg, vault) -> None:
    assert vault_kg("lookup", "ADA", cwd=vault.root).out.split()[0] == vault["ada"]
    assert vault_kg("lookup", "Ad").code == 1


def test_connections_are_told_from_the_record(vault_kg, vault) -> None:
    shown = vault_kg("connections", "Charles Babbage", cwd=vault.root)
    assert "← knows Ada Lovelace" in shown.out
    assert (
        vault_kg("connections", "Charles Babbage", "--direction", "out").out.strip()
        == "no connections"
    )


def test_history_tells_who_when_and_why_with_diffs(vault_kg, vault) -> None:
    path = vault.path("ada")
    path.write_text(path.read_text().replace("Friend of", "Foe of"))
    told = vault_kg("history", "Ada", "--diff", cwd=vault.root).out
    assert "observe" in told
    assert "by editor" in told
    assert "-Friend of" in told
    assert "+Foe of" in told
    assert "knowledge_save_page" in told
    page = vault_kg("history", "Ada", "--limit", "1", "--json").json
    assert (page["count"], page["total"]) == (1, 2)


def test_colour_is_for_terminals_only_and_not_with_no_color(vault, environment) -> None:
    def on_a_terminal(*options: str, **more: str) -> str:
        parent, child = pty.openpty()
        done = subprocess.Popen(
            [sys.executable, "-m", "vault_kg.cli", "search", "Ada", *options],
            cwd=vault.root, env=environment | {"TERM": "xterm"} | more, stdout=child,
            stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(child)
        said = b""
        while True:
            try:
                part = os.read(parent, 65_536)
            except OSError:
                break
            if not part:
                break
            said += part
        os.close(parent)
        assert done.wait(60) == 0
        return said.decode()

    assert "\x1b[1m" in on_a_terminal()
    assert "\x1b" not in on_a_terminal("--no-color")
    assert "\x1b" not in on_a_terminal(NO_COLOR="1")
    assert json.loads(on_a_terminal("--json"))["hits"]
