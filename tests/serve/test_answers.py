"""Answers over the budget are asked for again, smaller; nothing is cut silently."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.operations.builder import ANYBODY, VaultBox
from vault_kg.errors import InvalidArgument
from vault_kg.operations import registry
from vault_kg.serve import answers
from vault_kg.serve.schemas import compact


@pytest.fixture
def box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> VaultBox:
    monkeypatch.setenv("VAULT_KG_EMBEDDING_MODEL", "off")
    return VaultBox(tmp_path / "vault")


def ask(box: VaultBox, name: str, budget: int, **arguments: Any) -> dict[str, Any]:
    operation = registry.operations()[name]
    answer = answers.fitting(
        operation, arguments, lambda given: registry.call(box.ws, name, given, ANYBODY), budget
    )
    assert operation.scope != "read" or answers.room_of(answer) <= budget
    return answer


@pytest.mark.parametrize(
    ("text", "room"), [("abc", 3), ("žluť", 6), ("Москва", 12), ("東京", 8), ("a—b", 6), ("😀", 4)]
)
def test_a_character_that_takes_a_token_counts_four(text: str, room: int) -> None:
    assert answers.room_of([text]) == len(compact([""])) + room


def test_a_chinese_body_comes_in_parts_of_as_many_tokens(box: VaultBox) -> None:
    page = box.page("Big", "Topic", body="双向链接的用法很多。\n" * 30_000)
    view = ask(box, "knowledge_get", answers.MAX_CHARS, id=page)
    assert 20_000 < len(compact(view)) < 30_000
    assert 20_000 < view["nextBodyOffset"] < view["bodyTotal"]


def test_what_fits_as_characters_and_cannot_be_smaller_is_not_refused(box: VaultBox) -> None:
    page = box.page("Big", "Topic", body="双" * 20_000)
    operation = registry.operations()["knowledge_history"]
    answer = answers.fitting(
        operation, {"id": page, "diff": True},
        lambda given: registry.call(box.ws, operation.name, given, ANYBODY), 30_000,
    )  # fmt: skip
    assert answers.room_of(answer) > 30_000 >= len(compact(answer))


def test_an_answer_that_fits_is_what_the_operation_says(box: VaultBox) -> None:
    page = box.page()
    assert ask(box, "knowledge_get", 100_000, id=page) == box.get(page)


@pytest.mark.parametrize("body", ["a" * 50_000, '"\n' * 30_000, "日本語の文 " * 10_000])
def test_a_long_body_comes_in_parts_that_make_it_up(box: VaultBox, body: str) -> None:
    page = box.page("Long", "Topic", body=body)
    read, offset = "", 0
    while True:
        view = ask(box, "knowledge_get", 6_000, id=page, body_offset=offset)
        read += view["body"]
        if view["nextBodyOffset"] is None:
            break
        assert view["body"]
        offset = view["nextBodyOffset"]
    assert read == body.strip("\n")


def test_the_limit_that_was_asked_for_is_lowered_in_either_spelling(box: VaultBox) -> None:
    source = box.source("x" * 300 + "\n" + "line of the source\n" * 2_000)
    for spelling in ("maxChars", "max_chars"):
        part = ask(box, "knowledge_source", 5_000, id=source, **{spelling: 1_000_000})
        assert part["truncated"]
        assert part["nextLine"] > 1


def test_lists_get_shorter_and_have_a_cursor(box: VaultBox) -> None:
    for number in range(12):
        box.page(f"P{number}", "Topic", summary="s" * 250)
    page = ask(box, "knowledge_records", 3_000, limit=1000)
    assert 1 <= page["count"] < 12
    assert page["nextCursor"]


def test_what_cannot_be_smaller_is_refused_with_what_to_ask(box: VaultBox) -> None:
    page = box.page("Long", "Topic", body="x" * 20_000)
    with pytest.raises(InvalidArgument) as caught:
        ask(box, "knowledge_history", 5_000, id=page, diff=True)
    assert "without diff" in caught.value.message
    assert caught.value.data["max_chars"] == 5_000


def test_a_receipt_is_never_withheld(box: VaultBox) -> None:
    pages = [box.page(f"P{n}") for n in range(30)]
    for other in pages[1:]:
        box.relationship(pages[0], other)
    receipt = ask(
        box, "knowledge_withdraw", 1_000, **box.fence(pages[0]), requestId="w", reason="r"
    )
    assert receipt["impact"]["total"] == 29


def test_the_text_form_leaves_out_what_is_empty() -> None:
    full = {"a": None, "b": [], "c": {"d": None, "e": 0}, "f": [{"g": None, "h": False}], "i": ""}
    assert answers.short(full) == {"c": {"e": 0}, "f": [{"h": False}], "i": ""}
