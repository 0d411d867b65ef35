"""One item that is no use never costs the others."""

from __future__ import annotations

import json
from typing import Any

import pytest

from vault_kg.ingest import items

GOOD: dict[str, Any] = {
    "source": "Ada", "type": "knows", "target": "Bob", "quote": "Ada met Bob", "fact": "They met."
}  # fmt: skip


def test_forty_items_of_which_two_are_no_use() -> None:
    entities: list[Any] = [{"name": f"N{n}", "type": "Person", "summary": ""} for n in range(38)]
    read = items.read({"entities": [*entities, {"type": "Person", "summary": ""}, {"name": " "}]})
    assert len(read.entities) == 38
    assert [why for _, _, why in read.malformed] == ["it has no name", "it has no name"]


@pytest.mark.parametrize(
    ("spoilt", "why"),
    [
        ({"fact": "  "}, "it has no fact"), ({"source": None}, "it has no source"),
        ({"quote": ""}, "it has no quote"), ({"target": 3, "fact": ""}, "it has no target and no fact"),
    ],
)  # fmt: skip
def test_a_statement_without_what_it_needs_is_put_aside_with_its_content(
    spoilt: dict[str, Any], why: str
) -> None:
    read = items.read({"relations": [GOOD, GOOD | spoilt, "nonsense"], "claims": None})
    assert len(read.statements) == 1
    assert read.malformed == [
        ("relationship", GOOD | spoilt, why), ("relationship", "nonsense", "it is no object"),
    ]  # fmt: skip


def test_what_can_be_mended_is_kept_and_told() -> None:
    given = GOOD | {"valid_from": "last week", "type": "", "partition": "secret", "id": "pg_1"}
    read = items.read({"relations": [given], "entities": [{"name": "Ada"}]})
    (statement,) = read.statements
    assert (statement.valid_from, statement.type) == (None, "")
    assert [why for _, _, why in read.salvaged] == [
        "without a type; without a summary",
        "valid_from is no date; without a type; without id, partition, which nobody asked for",
    ]


@pytest.mark.parametrize(
    "wrapped", ["{}", "```json\n{}\n```", "Here it is: {} and that is all.", "{}\n{}"]
)
def test_json_is_found_in_what_a_model_says_around_it(wrapped: str) -> None:
    answer = json.dumps({"relations": [GOOD]})
    assert items.load(wrapped.replace("{}", answer)) == {"relations": [GOOD]}


def test_of_an_answer_that_ends_too_early_every_whole_item_is_kept() -> None:
    text = json.dumps({"entities": [{"name": "A"}], "relations": [GOOD, GOOD]})
    for end in range(len(text)):
        found = items.load(text[:end]) if "{" in text[:end] else {}
        assert all(item in (GOOD, {"name": "A"}) for listed in found.values() for item in listed)
    assert items.load(text[:-20])["relations"] == [GOOD]


@pytest.mark.parametrize("text", ["", "I cannot do that.", "[1, 2]"])
def test_an_answer_without_an_object_is_an_error_and_not_an_empty_list(text: str) -> None:
    with pytest.raises(items.NotJson):
        items.load(text)
