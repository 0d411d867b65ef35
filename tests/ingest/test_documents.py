"""Messages become a transcript, one line each; everything else is read as it was sent."""

from __future__ import annotations

import json

import pytest

from vault_kg.ingest.documents import as_text, kind_of

MESSAGES = [
    {"role": "Ada", "content": "I wrote\n the notes.", "time": "1843-07-01"},
    {"author": "Bob", "text": "“Well done”"},
]
TRANSCRIPT = "Ada (1843-07-01): I wrote the notes.\nBob: “Well done”\n"


@pytest.mark.parametrize("value", [MESSAGES, {"messages": MESSAGES}])
def test_a_conversation_is_a_line_a_message(value: object) -> None:
    assert as_text(json.dumps(value), "json") == (TRANSCRIPT, True)


@pytest.mark.parametrize("text", ['{"a": 1}', "[]", "[1]", "no json", "[" * 5_000, '[{"a": "b"}]'])
def test_other_json_is_read_as_it_is(text: str) -> None:
    assert as_text(text, "json") == (text, False)


def test_text_is_text_whatever_it_looks_like() -> None:
    assert as_text(json.dumps(MESSAGES), "text") == (json.dumps(MESSAGES), False)
    assert (kind_of("a/Chat.JSON"), kind_of("a.md")) == ("json", "text")
