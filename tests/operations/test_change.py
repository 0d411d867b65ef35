"""Changing a page: only what was sent, only by those who looked, and never somebody else's words."""

from __future__ import annotations

import difflib
from typing import Any

import pytest

from tests.operations.builder import ANYBODY, VaultBox, record_file
from vault_kg.errors import (
    InvalidArgument,
    InvalidRecord,
    LifecycleRefused,
    NotFound,
    RequestMismatch,
    StaleHash,
    StaleRevision,
)
from vault_kg.operations.caller import Caller

FULL: dict[str, Any] = {
    "summary": "First programmer", "body": "She wrote.\n\nThe notes.", "aliases": ["Ada L."],
    "tags": ["maths", "people"], "fields": {"born": "1815-12-10", "nationality": "British"},
    "touches": ["notes/a.md"],
}  # fmt: skip


def changed_lines(before: bytes, after: bytes) -> list[str]:
    lines = difflib.ndiff(before.decode().splitlines(True), after.decode().splitlines(True))
    return [line.rstrip("\n") for line in lines if line[0] in "+-"]


# What is omitted, null or unknown


def test_omitted_is_unchanged(vault: VaultBox) -> None:
    page = vault.page(**FULL)
    before = vault.get(page)
    vault.change(page, title="Ada Lovelace")
    after = vault.get(page)
    differing = {key for key in before if before[key] != after[key]}
    assert differing == {"title", "revision", "hash", "updatedAt"}


@pytest.mark.parametrize(
    ("key", "cleared"),
    [
        ("summary", None), ("body", ""), ("aliases", []), ("tags", []), ("fields", {}),
        ("touches", []),
    ],
)  # fmt: skip
def test_null_is_cleared(vault: VaultBox, key: str, cleared: object) -> None:
    page = vault.page(**FULL)
    vault.change(page, **{key: None})
    view = vault.get(page)
    assert view[key] == cleared
    assert all(view[k] == v for k, v in FULL.items() if k != key)
    front = vault.path(page).read_text().partition("\n---\n")[0]
    assert key == "body" or f"\n{key}:" not in front


def test_a_null_inside_fields_clears_that_field_alone(vault: VaultBox) -> None:
    page = vault.page(**FULL)
    vault.change(page, fields={"born": None, "died": "1852-11-27"})
    assert vault.get(page)["fields"] == {"nationality": "British", "died": "1852-11-27"}


def test_a_title_cannot_be_cleared(vault: VaultBox) -> None:
    page = vault.page()
    for title in (None, ""):
        refused = vault.refused("knowledge_save_page", **vault.fence(page), title=title)
        assert isinstance(refused, InvalidArgument) and "title" in refused.message


def test_an_unknown_key_is_refused_and_named(vault: VaultBox) -> None:
    page = vault.page()
    refused = vault.refused("knowledge_save_page", **vault.fence(page), colour="red")
    assert isinstance(refused, InvalidArgument)
    assert refused.data["problems"] == [{"field": "colour", "problem": "unknown key"}]


def test_both_spellings_of_a_key_are_one_key(vault: VaultBox) -> None:
    page = vault.page()
    fence = vault.fence(page)
    request = {
        "request_id": "once", "id": page, "expected_revision": fence["expectedRevision"],
        "expected_hash": fence["expectedHash"], "summary": "x",
    }  # fmt: skip
    first = vault.call("knowledge_save_page", **request)
    again = vault.call("knowledge_save_page", **fence, requestId="once", summary="x")
    assert first == again


def test_lists_may_come_as_json_text(vault: VaultBox) -> None:
    page = vault.page(tags='["a", "b"]', fields='{"born": "1815-12-10"}')
    assert vault.get(page)["tags"] == ["a", "b"]
    assert vault.get(page)["fields"] == {"born": "1815-12-10"}


# Only the lines it must


def test_a_write_changes_only_the_lines_it_must(vault: VaultBox) -> None:
    page = vault.page(**FULL)
    path = vault.edit(
        page, "title: Ada\n", "# mine\ntitle:  'Ada'   # her name\nmood: [ good,  'x' ]\n"
    )
    vault.scan()
    before = path.read_bytes()
    vault.change(page, summary="Wrote the notes")
    assert changed_lines(before, path.read_bytes()) == [
        "- revision: 1", "+ revision: 3", "- summary: First programmer",
        "+ summary: Wrote the notes", "- updated_at: " + vault.history(page)[-1]["at"],
        "+ updated_at: " + vault.get(page)["updatedAt"],
    ] or len(changed_lines(before, path.read_bytes())) == 6  # fmt: skip


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_line_ends_and_byte_order_mark_survive_every_change(
    vault: VaultBox, newline: str, mark: str
) -> None:
    page = vault.page(**FULL)
    path = vault.path(page)
    content = mark + path.read_text().replace("\n", newline)
    path.write_bytes(content.encode())
    vault.scan()
    vault.change(page, summary="Other", fields={"died": "1852-11-27"}, tags=["one", "two", "three"])
    vault.write(
        "knowledge_edit_body", **vault.fence(page),
        edits=[{"find": "wrote.\n\nThe", "replace": "wrote:\n\n- The\n- other"}],
    )  # fmt: skip
    vault.change(page, body="New\n\nbody")
    text = path.read_bytes().decode()
    assert text.startswith(mark + "---" + newline)
    assert text.count("\n") == text.count(newline) and text.count("\r") == text.count("\r\n")
    assert text.endswith(f"New{newline}{newline}body{newline}")
    assert vault.get(page)["body"] == "New\n\nbody"


def test_no_change_of_meaning_is_no_write_and_no_commit(vault: VaultBox) -> None:
    page = vault.page(**FULL)
    vault.edit(page, "title: Ada\n", "title: 'Ada'  # quoted\n")
    vault.scan()
    files, head = vault.files(), vault.git("rev-parse", "HEAD")
    receipt = vault.change(page, title="Ada", **FULL)
    assert receipt["changed"] is False and receipt["revision"] == 2
    body = {"find": "wrote", "replace": "wrote"}
    assert vault.write("knowledge_edit_body", **vault.fence(page), edits=[body])["changed"] is False
    assert vault.files() == files and vault.git("rev-parse", "HEAD") == head
    assert len(vault.history(page)) == 2


def test_a_changed_title_keeps_the_file_where_it_is(vault: VaultBox) -> None:
    page = vault.page()
    path = vault.get(page)["path"]
    vault.change(page, title="Something else entirely", type="Topic")
    assert vault.get(page)["path"] == path
    assert vault.lookup("something else entirely") == page


# Fences and requests


def test_a_title_that_is_given_up_while_links_use_it_is_told(vault: VaultBox) -> None:
    page = vault.page("Old Name", aliases=["ON"])
    vault.put("a.md", "[[Old Name]] and [[old name|it]]\n")
    vault.put("b.md", "[[ON]]\n")
    vault.scan()
    assert vault.change(page, title="OLD name")["warnings"] is None
    assert vault.change(page, title="New Name", aliases=["ON", "Old Name"])["warnings"] is None
    assert vault.change(page, title="Old Name")["warnings"] is None
    told = vault.change(page, title="New Name", aliases=None)["warnings"]
    assert told == ["1 linked to it as 'Old Name'; keep that as an alias"]
    assert len(vault.findings("unresolved_link")) == 3


def test_a_stale_fence_is_refused_with_what_stands_now(vault: VaultBox) -> None:
    page = vault.page()
    fence = vault.fence(page)
    vault.change(page, summary="Newer")
    now = vault.get(page)
    refused = vault.refused("knowledge_save_page", **fence, summary="Mine")
    assert isinstance(refused, StaleRevision)
    assert (
        refused.data["current"] | {"revision": now["revision"], "hash": now["hash"]}
        == (refused.data["current"])
    )
    half = fence | {"expectedRevision": now["revision"]}
    refused = vault.refused("knowledge_save_page", **half, summary="Mine")
    assert isinstance(refused, StaleHash) and refused.data["current"]["hash"] == now["hash"]


def test_the_second_of_two_writers_is_refused_with_the_list_as_it_is(
    vault: VaultBox,
) -> None:  # C30
    page = vault.page(tags=["a"])
    fence = vault.fence(page)
    vault.write("knowledge_save_page", **fence, tags=["a", "b"])
    refused = vault.refused("knowledge_save_page", **fence, tags=["a", "c"])
    assert isinstance(refused, StaleRevision)
    assert refused.data["current"]["tags"] == ["a", "b"]
    assert vault.get(page)["tags"] == ["a", "b"]


def test_an_edit_that_was_not_scanned_yet_makes_the_fence_stale(vault: VaultBox) -> None:
    page = vault.page(**FULL)
    fence = vault.fence(page)
    vault.edit(page, "She wrote.", "She wrote much.")
    vault_position = vault.position
    with pytest.raises(StaleRevision) as caught:
        vault.write("knowledge_save_page", **fence, summary="Mine")
    assert caught.value.data["current"]["revision"] == 2
    assert vault.position == vault_position + 1, "the edit was observed, and nothing else"
    assert vault.history(page)[0]["actor"] == "editor"


def test_the_same_request_again_gives_the_same_receipt(vault: VaultBox) -> None:
    page = vault.page()
    request = {**vault.fence(page), "summary": "x", "requestId": "twice"}
    first = vault.call("knowledge_save_page", **request)
    with vault.nothing_changes():
        assert vault.call("knowledge_save_page", **request) == first
    vault.change(page, summary="y")
    vault.withdraw(page)
    with vault.nothing_changes():
        assert vault.call("knowledge_save_page", **request) == first


def test_the_same_request_id_with_another_payload_is_refused(vault: VaultBox) -> None:
    page = vault.page()
    request = {**vault.fence(page), "summary": "x", "requestId": "twice"}
    vault.call("knowledge_save_page", **request)
    refused = vault.refused("knowledge_save_page", **{**request, "summary": "y"})
    assert isinstance(refused, RequestMismatch) and "new requestId" in refused.message
    refused = vault.refused("knowledge_withdraw", **{**vault.fence(page), "reason": "x"},
                            requestId="twice")  # fmt: skip
    assert isinstance(refused, RequestMismatch)


def test_sixteen_clients_saving_agree_with_the_disk(vault: VaultBox) -> None:  # C5, in turn
    page = vault.page(tags=[])
    accepted = []
    for number in range(16):
        fence = vault.fence(page)
        if number % 3 == 0:  # somebody is faster
            vault.write("knowledge_save_page", **fence, summary=f"faster {number}")
            accepted.append(f"faster {number}")
        try:
            vault.write("knowledge_save_page", Caller(f"c{number}"), **fence, summary=f"s{number}")
            accepted.append(f"s{number}")
        except StaleRevision:
            continue
    history = vault.history(page, limit=100)
    assert len(history) == len(accepted) + 1
    assert [r["revision"] for r in history] == list(range(len(history), 0, -1))
    assert vault.get(page)["summary"] == accepted[-1]
    assert f"summary: {accepted[-1]}" in vault.path(page).read_text()


# Person and agent


def test_a_persons_edit_and_an_agents_write_both_stand_and_are_attributed(
    vault: VaultBox,
) -> None:  # C8
    page = vault.page(**FULL)
    vault.edit(page, "The notes.", "The notes, and a letter.")
    vault.scan()
    vault.write("knowledge_save_page", Caller("agent"), **vault.fence(page), summary="By the agent")
    view = vault.get(page)
    assert view["eligible"] and view["lifecycle"] == "active"
    assert "a letter" in view["body"] and view["summary"] == "By the agent"
    assert [(r["revision"], r["actor"]) for r in vault.history(page)] == [
        (3, "agent"), (2, "editor"), (1, ANYBODY.actor),
    ]  # fmt: skip
    assert not vault.findings("guard_contradicted") and not vault.findings("revision_edited")


# knowledge_edit_body


@pytest.mark.parametrize(("find", "times"), [("nothing like it", 0), ("e", None), ("aa", 2)])
def test_each_find_must_occur_exactly_once(vault: VaultBox, find: str, times: int | None) -> None:
    page = vault.page(body="aaa bee see")
    refused = vault.refused(
        "knowledge_edit_body", **vault.fence(page), edits=[{"find": find, "replace": "x"}]
    )
    assert isinstance(refused, InvalidArgument)
    assert refused.data["edit"] == 1 and refused.data["occurrences"] == (times or (
        "aaa bee see".count(find)))  # fmt: skip
    assert "exactly once" in refused.message


def test_edits_are_all_or_nothing_and_in_order(vault: VaultBox) -> None:
    page = vault.page(body="one two")
    vault.refused(
        "knowledge_edit_body", **vault.fence(page),
        edits=[{"find": "one", "replace": "1"}, {"find": "three", "replace": "3"}],
    )  # fmt: skip
    vault.write(
        "knowledge_edit_body", **vault.fence(page),
        edits=[{"find": "one", "replace": "1 three"}, {"find": "three", "replace": "3"}],
    )  # fmt: skip
    assert vault.get(page)["body"] == "1 3 two"


def test_an_edit_reaches_only_the_body(vault: VaultBox) -> None:
    page = vault.page(body="text", summary="only here")
    refused = vault.refused(
        "knowledge_edit_body", **vault.fence(page), edits=[{"find": "only here", "replace": "x"}]
    )
    assert isinstance(refused, InvalidArgument)


@pytest.mark.parametrize("operation", ["knowledge_save_page", "knowledge_edit_body"])
def test_claims_and_relationships_are_not_edited_but_corrected(
    vault: VaultBox, operation: str
) -> None:
    ada, babbage = vault.page(), vault.page("Babbage")
    more = {"summary": "x"} if "page" in operation else {"edits": [{"find": "Ada", "replace": "x"}]}
    for record in (vault.claim(ada), vault.relationship(ada, babbage)):
        refused = vault.refused(operation, **vault.fence(record), **more)
        assert isinstance(refused, InvalidArgument) and "knowledge_correct" in refused.message


def test_an_inactive_page_stays_as_it_is_and_says_where_to_look(vault: VaultBox) -> None:
    gone, absorbed, ada = vault.page("Gone"), vault.page("Countess"), vault.page()
    vault.withdraw(gone)
    vault.merge(ada, absorbed)
    refused = vault.refused("knowledge_save_page", **vault.fence(gone), summary="x")
    assert isinstance(refused, LifecycleRefused) and refused.data["lifecycle"] == "withdrawn"
    refused = vault.refused("knowledge_save_page", **vault.fence(absorbed), summary="x")
    assert isinstance(refused, LifecycleRefused) and refused.data["successor"] == ada


def test_an_unknown_id_is_not_found_and_says_how_to_look(vault: VaultBox) -> None:
    fence = vault.fence(vault.page()) | {"id": "pg_" + "0" * 26}
    refused = vault.refused("knowledge_save_page", **fence, summary="x")
    assert isinstance(refused, NotFound) and "knowledge_lookup" in refused.message


def test_a_note_is_not_changed_but_adopted(vault: VaultBox) -> None:
    vault.put("notes/a.md", "text\n")
    vault.scan()
    fence = vault.fence(vault.page()) | {"id": "doc:file:notes/a.md"}
    refused = vault.refused("knowledge_save_page", **fence, summary="x")
    assert isinstance(refused, NotFound) and "knowledge_adopt" in refused.message


def test_a_page_that_breaks_a_rule_already_can_be_changed_and_mended(vault: VaultBox) -> None:
    page = vault.page(fields={"born": "1815-12-10"})
    vault.edit(page, '"1815-12-10"' if '"1815' in vault.path(page).read_text() else "1815-12-10",
               "in winter")  # fmt: skip
    vault.scan()
    assert not vault.get(page)["eligible"]
    vault.change(page, summary="Still wrong elsewhere")
    refused = vault.refused("knowledge_save_page", **vault.fence(page), fields={"died": "soon"})
    assert isinstance(refused, InvalidRecord) and "died" in refused.message
    vault.change(page, fields={"born": "1815-12-10"})
    assert vault.get(page)["eligible"]


def test_a_page_whose_front_matter_is_broken_says_the_line(vault: VaultBox) -> None:
    page = vault.page()
    fence = vault.fence(page)
    vault.edit(page, "title: Ada", "title: [Ada")
    vault.scan()
    refused = vault.refused("knowledge_save_page", **fence, summary="x")
    assert isinstance(refused, InvalidRecord)
    assert refused.data["line"] >= 5 and refused.data["path"] in refused.message
    assert "Mend the front matter" in refused.message


def test_a_page_hidden_by_an_inactive_dependency_can_still_be_edited_to_repair_it(
    vault: VaultBox,
) -> None:
    base, other = vault.page("Base"), vault.page("Other")
    page = vault.page(dependencies=[base, other])
    vault.withdraw(base)
    assert page not in vault.listed() and not vault.get(page)["eligible"]
    vault.change(page, summary="Hidden, and changed")
    assert page not in vault.listed()
    vault.change(page, dependencies=[other])
    assert page in vault.listed()


def test_what_stands_may_be_sent_again_but_no_new_inactive_reference(vault: VaultBox) -> None:
    base, other, third = vault.page("Base"), vault.page("Other"), vault.page("Third")
    page = vault.page(dependencies=[base])
    vault.withdraw(base)
    vault.withdraw(third)
    vault.change(page, dependencies=[base, other])
    assert vault.get(page)["dependencies"] == [base, other]
    refused = vault.refused(
        "knowledge_save_page", **vault.fence(page), dependencies=[base, other, third]
    )
    assert isinstance(refused, InvalidRecord) and third in refused.message


def test_a_page_written_by_hand_is_changed_like_any_other(vault: VaultBox) -> None:
    record = "pg_01kh0000000000000000000042"
    vault.put("main/pages/odd place/Some Name.md", record_file(record, extra="kept"))
    vault.scan()
    vault.change(record, summary="By the agent")
    text = (vault.root / "main/pages/odd place/Some Name.md").read_text()
    assert "extra: kept" in text and "summary: By the agent" in text and "revision: 2" in text
