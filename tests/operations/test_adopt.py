"""Adopting: a person's note becomes a page, and its text stays byte for byte."""

from __future__ import annotations

import pytest

from tests.operations.builder import VaultBox, made_id, record_file
from vault_kg.errors import InvalidArgument, InvalidRecord, NotFound, UnsafePath

NOTES = {
    "plain": "# Title\n\nText with [[link]] and #tag.\n",
    "crlf": "# Title\r\n\r\nText.\r\n",
    "byte order mark": "\ufeff# Title\n",
    "no final newline": "text",
    "empty": "",
    "a rule inside": "text\n\n---\n\nmore\n",
    "front matter": "---\ntags: [a, 'b']  # mine\ncssclass: wide\n---\n\nText.\n",
    "crlf front matter": "---\r\ntitle: 'Mine'\r\n---\r\nText.\r\n",
}


@pytest.mark.parametrize("name", NOTES)
def test_front_matter_is_added_and_the_body_stays_byte_for_byte(vault: VaultBox, name: str) -> None:
    content = NOTES[name].encode()
    path = vault.put("notes/My Note.md", content)
    vault.scan()
    receipt = vault.write("knowledge_adopt", path="notes/My Note.md", type="topic")
    now = path.read_bytes()
    body = content.removeprefix("\ufeff".encode())
    if "front matter" in name:
        body = body.partition(b"---\r\n" if b"\r" in body else b"---\n")[2]
        front, _, body = body.partition(b"---\r\n" if b"\r" in body else b"---\n")
        assert front in now
    assert now.endswith(body)
    assert now.startswith("\ufeff".encode()) == content.startswith("\ufeff".encode())
    assert now.count(b"\r") in (0, now.count(b"\n"))
    view = vault.get(receipt["targetId"])
    assert (view["kind"], view["type"], view["revision"]) == ("page", "Topic", 1)
    assert view["path"] == "notes/My Note.md" and view["lifecycle"] == "active"
    assert view["title"] == ("Mine" if "crlf f" in name else "My Note")
    assert vault.call("knowledge_records", kind="note")["total"] == 0
    assert vault.git("status", "--short") == ""
    vault.change(receipt["targetId"], summary="x")
    assert path.read_bytes().endswith(body)


def test_links_to_the_note_lead_to_the_page(vault: VaultBox) -> None:
    vault.put("notes/target.md", "text\n")
    linking = vault.page("Linking", body="[[target]]")
    vault.scan()
    page = vault.write("knowledge_adopt", path="notes/target.md", type="Topic")["targetId"]
    assert vault.get(page)["backlinks"] == 1
    assert linking in {i["id"] for i in vault.call("knowledge_impact", id=page)["items"]}


def test_title_and_type_that_are_asked_for_are_those_of_the_page(vault: VaultBox) -> None:
    vault.put("notes/a.md", "---\ntitle: Mine\ntype: meeting\n---\nText.\n")
    vault.scan()
    page = vault.write("knowledge_adopt", path="notes/a.md", type="Event", title="Ours")["targetId"]
    view = vault.get(page)
    assert (view["title"], view["type"]) == ("Ours", "Event")


def test_a_note_that_no_scan_has_seen_can_be_adopted(vault: VaultBox) -> None:
    vault.put("notes/new.md", "text\n")
    assert vault.write("knowledge_adopt", path="notes/new.md", type="Topic")["revision"] == 1


def test_the_same_request_again_gives_the_same_receipt(vault: VaultBox) -> None:
    vault.put("notes/a.md", "text\n")
    request = {"requestId": "a", "path": "notes/a.md", "type": "Topic"}
    first = vault.call("knowledge_adopt", **request)
    with vault.nothing_changes():
        assert vault.call("knowledge_adopt", **request) == first
    refused = vault.refused("knowledge_adopt", path="notes/a.md", type="Topic")
    assert isinstance(refused, InvalidArgument) and first["targetId"] in refused.message


@pytest.mark.parametrize(
    "path",
    ["../outside.md", "/etc/passwd", "notes/../../x.md", "notes//a.md", "./../x.md", "notes/a\0.md",
     "nothing.md", "", ".git/config", ".vault-kg/vault.toml", "x" * 1_500, "notes", "a/" * 900],
)  # fmt: skip
def test_only_a_note_of_the_vault_is_adopted(vault: VaultBox, path: str) -> None:
    (vault.root.parent / "outside.md").write_text("not ours\n")
    vault.put("notes/a.md", "text\n")
    vault.scan()
    findings = vault.findings()
    refused = vault.refused("knowledge_adopt", path=path, type="Topic")
    assert isinstance(refused, NotFound | UnsafePath | InvalidArgument)
    assert vault.findings() == findings, "a wrong path leaves no trace"


def test_a_link_out_of_the_vault_is_not_adopted(vault: VaultBox) -> None:
    outside = vault.root.parent / "outside.md"
    outside.write_text("not ours\n")
    (vault.root / "in.md").symlink_to(outside)
    vault.scan()
    refused = vault.refused("knowledge_adopt", path="in.md", type="Topic")
    assert isinstance(refused, NotFound | UnsafePath)
    assert outside.read_text() == "not ours\n"


def test_a_record_is_not_adopted_again(vault: VaultBox) -> None:
    vault.put("main/pages/person/a.md", record_file(made_id(1)))
    vault.scan()
    refused = vault.refused("knowledge_adopt", path="main/pages/person/a.md", type="Person")
    assert isinstance(refused, InvalidArgument) and made_id(1) in refused.message


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("---\ntags: [a\n---\nText.\n", "notes/a.md:"),
        ("\n\n---\ntitle: x\n---\nText.\n", "notes/a.md:3"),
        ("---\nid: mine\nrevision: 3\n---\nText.\n", "its own id, revision"),
        ("---\nfields: text\n---\n", "fields"),
        ("---\nevidence: [{source: sr_x}]\n---\n", "evidence"),
    ],
)
def test_a_note_that_could_not_be_a_page_is_refused_saying_why(
    vault: VaultBox, content: str, said: str
) -> None:
    path = vault.put("notes/a.md", content)
    vault.scan()
    refused = vault.refused("knowledge_adopt", path="notes/a.md", type="Topic")
    assert isinstance(refused, InvalidRecord | NotFound) and said in refused.message
    assert path.read_text() == content


@pytest.mark.parametrize("empty", ["", " ''", ' "  "', ' "\\u200b"', " ~"])
@pytest.mark.parametrize("key", ["title", "type"])
def test_an_empty_title_or_type_gives_way(vault: VaultBox, key: str, empty: str) -> None:
    path = vault.put("notes/My Note.md", f"---\nmine: 1\n{key}:{empty}\n---\nText.\n")
    vault.scan()
    page = vault.write("knowledge_adopt", path="notes/My Note.md")["targetId"]
    view = vault.get(page)
    assert (view["title"], view["type"]) == ("My Note", "Document")
    assert vault.lookup("My Note") == page
    text = path.read_text()
    assert text.count(f"{key}:") == 1 and "mine: 1" in text and text.endswith("---\nText.\n")
    assert vault.findings() == []


def test_a_record_whose_title_cannot_be_seen_is_called_by_its_file(vault: VaultBox) -> None:
    path = "main/pages/person/somebody.md"
    vault.put(path, record_file(made_id(1), title="\u200b"))
    vault.scan()
    assert vault.get(made_id(1))["title"] == "somebody"
    assert [f["code"] for f in vault.findings()] == ["missing_title"]
    refused = vault.refused("knowledge_adopt", path=path, title="\u200b")
    assert isinstance(refused, InvalidArgument) and "can be seen" in refused.message
