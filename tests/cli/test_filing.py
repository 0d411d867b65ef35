"""`attach` and `adopt`."""

from __future__ import annotations

import os

import pytest


def test_attach_gives_a_source_that_can_be_cited(vault_kg, vault, tmp_path) -> None:
    letter = tmp_path / "letter.txt"
    letter.write_text("Dear Ada,\nthe engine is late.\n")
    done = vault_kg("attach", letter, "--attribution", "C. B.", "--json", cwd=vault.root)
    assert done.code == 0
    source = done.json["source"]
    assert (source["filename"], source["attribution"]) == ("letter.txt", "C. B.")
    again = vault_kg("attach", letter)
    assert "nothing to change" in again.out
    corrected = vault_kg(
        "correct", vault["claim"], "--statement", "The engine was late.", "--reason", "a letter",
        "--evidence", f"{source['id']}:2", "--quote", "the engine is late", "--yes",
    )  # fmt: skip
    assert corrected.code == 0, corrected.err


def test_attach_says_what_cannot_be_attached(vault_kg, vault, tmp_path) -> None:
    missing = vault_kg("attach", tmp_path / "nothing", "--json", cwd=vault.root)
    assert (missing.code, missing.json["error"]["code"]) == (1, "not_found")
    folder = vault_kg("attach", tmp_path)
    assert folder.code == 1
    link = tmp_path / "link.txt"
    link.symlink_to(vault.root / "notes" / "idea.md")
    assert vault_kg("attach", link).code == 1


def test_adopt_keeps_the_text_byte_for_byte(vault_kg, vault) -> None:
    note = vault.root / "notes" / "idea.md"
    text = note.read_bytes()
    done = vault_kg("adopt", "idea.md", "--type", "Topic", "--json", cwd=note.parent)
    assert done.code == 0, done.err
    assert note.read_bytes().endswith(text)
    assert vault_kg("show", done.json["targetId"], "--json").json["type"] == "Topic"


def test_adopt_takes_several_notes_and_refuses_what_is_none(vault_kg, vault) -> None:
    (vault.root / "notes" / "two.md").write_text("two\n")
    done = vault_kg("adopt", "notes/idea.md", "notes/two.md", cwd=vault.root)
    assert done.code == 0
    assert done.out.count("adopt  notes/") == 2
    assert vault_kg("adopt", "notes/two.md").code == 1
    assert vault_kg("adopt", "notes/none.md").code == 1
    assert vault_kg("adopt", "a.md", "b.md", "--title", "One").code == 2


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes in folders")
def test_nobody_waits_for_a_pipe_or_reads_a_device(shell, vault, tmp_path) -> None:
    pipe = tmp_path / "pipe.txt"
    os.mkfifo(pipe)
    for odd in (pipe, "/dev/zero"):
        refused = shell("attach", odd, "--json", cwd=vault.root)
        assert (refused.code, refused.json["error"]["code"]) == (1, "invalid_argument")
        assert "not a regular file" in refused.json["error"]["message"]
    for name in (".gitignore", ".gitattributes"):
        (vault.root / name).unlink(missing_ok=True)
        os.mkfifo(vault.root / name)
    assert shell("status", cwd=vault.root).code == 0
    assert shell("diagnostics", cwd=vault.root).code == 0
    done = shell("attach", vault.root / "notes" / "idea.md", cwd=vault.root)
    assert done.code == 0, done.err
