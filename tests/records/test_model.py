"""The record model: reading never fails, and every departure from the format is told with its line."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault_kg.records import ids, model
from vault_kg.records.frontmatter import FrontMatterError, new_document, parse

KEYS = [
    "format", "id", "kind", "revision", "title", "lifecycle", "recorded_at", "updated_at",
    "aliases", "tags", "dependencies", "evidence", "supersedes", "superseded_by", "merged_into",
    "lifecycle_change", "summary", "fields", "touches", "owner", "entities", "origin", "confidence",
    "valid_from", "valid_until", "expires_at", "from", "to", "type", "claim_kind", "something else",
]  # fmt: skip
PAGE = {
    "format": model.FORMAT, "id": "pg_" + "0" * 26, "kind": "page", "revision": 3, "title": "Ada",
    "type": "Person", "lifecycle": "active", "recorded_at": "2026-01-05T10:00:00Z",
    "updated_at": "2026-01-06T10:00:00Z",
}  # fmt: skip
CLAIM = PAGE | {
    "id": "cl_" + "0" * 26, "kind": "claim", "claim_kind": "fact", "owner": "pg_" + "0" * 26,
    "evidence": [{"source": "sr_" + "0" * 26, "lines": "3-7", "quote": "words"}],
}  # fmt: skip
RELATIONSHIP = CLAIM | {
    "id": "re_" + "0" * 26, "kind": "relationship", "type": "knows",
    "from": "pg_" + "0" * 26, "to": "pg_" + "1" * 26,
}  # fmt: skip

SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-(10**20), 10**20),
    st.floats(allow_nan=True), st.text(max_size=12),
    st.sampled_from(["active", "page", "claim", model.FORMAT, "pg_" + "0" * 26, "2026-01-05", "~"]),
)  # fmt: skip
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=6,
)
CHANGES = st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=8)


def read(fields: dict[str, Any], body: str = "\nText.\n") -> tuple[Any, list[model.Problem]]:
    return model.read_record(parse(new_document(fields, body)))


@settings(max_examples=300)
@given(st.sampled_from([PAGE, CLAIM, RELATIONSHIP, {}]), CHANGES, st.text(max_size=30))
def test_reading_never_fails_and_gives_well_typed_values(
    base: dict[str, Any], changes: dict[str, Any], body: str
) -> None:
    document = parse(new_document(base | changes, body.replace("\r", "")))
    record, problems = model.read_record(document)
    assert all(p.line is None or 1 <= p.line <= document.body_line for p in problems)
    assert all(p.message and p.code and p.severity in ("error", "warning") for p in problems)
    if record is None:
        assert [p for p in problems if p.severity == "error"]
        return
    assert ids.is_id(record.id) and ids.kind_of(record.id) == record.kind in model.KINDS
    assert record.revision >= 1 and record.lifecycle in model.LIFECYCLES
    assert record.origin is None or record.origin in model.ORIGINS
    assert record.confidence is None or 0 <= record.confidence <= 1
    for values in (record.aliases, record.tags, record.dependencies, record.touches):
        assert isinstance(values, tuple) and all(isinstance(v, str) for v in values)
    for text in (record.title, record.recorded_at, record.updated_at):
        assert isinstance(text, str)
    assert isinstance(record.fields, dict)
    assert all(isinstance(r.target, str) and r.target for r in record.references())
    for citation in record.evidence:
        assert all(isinstance(v, str) for v in citation.to_value().values())


@settings(max_examples=300)
@given(st.binary(max_size=300))
def test_no_bytes_make_reading_fail(content: bytes) -> None:
    head = b"---\nformat: knowledge-record-v1\nid: pg_" + b"0" * 26 + b"\nkind: page\n"
    for raw in (content, head + content, head + content + b"\n---\n"):
        try:
            document = parse(raw)
        except FrontMatterError as error:
            assert error.line >= 1 and error.reason
            continue
        if model.is_record(document):
            model.read_record(document)


@pytest.mark.parametrize("base", [PAGE, CLAIM, RELATIONSHIP], ids=lambda b: str(b["kind"]))
def test_a_whole_record_is_read_without_a_problem(base: dict[str, Any]) -> None:
    record, problems = read(base)
    assert problems == [] and record is not None
    assert (record.id, record.kind, record.revision, record.title) == (
        base["id"], base["kind"], 3, "Ada",
    )  # fmt: skip
    assert record.body.strip() == "Text."


@pytest.mark.parametrize(
    ("base", "key", "code"),
    [
        (PAGE, "format", "unsupported_format"), (PAGE, "id", "invalid_id"),
        (PAGE, "kind", "invalid_kind"), (PAGE, "revision", "invalid_field"),
        (PAGE, "recorded_at", "missing_field"), (CLAIM, "owner", "missing_field"),
        (CLAIM, "claim_kind", "missing_field"), (CLAIM, "evidence", "missing_evidence"),
        (RELATIONSHIP, "from", "missing_field"), (RELATIONSHIP, "to", "missing_field"),
    ],
)  # fmt: skip
def test_what_is_missing_is_an_error(base: dict[str, Any], key: str, code: str) -> None:
    _, problems = read({k: v for k, v in base.items() if k != key})
    assert [p.code for p in problems if p.severity == "error"] == [code]


@pytest.mark.parametrize(
    ("key", "value", "read_as"),
    [
        ("tags", 2024, ("2024",)), ("tags", ["a", 1, "2024-01-05", None], ("a", "1", "2024-01-05")),
        ("tags", True, ("true",)), ("aliases", "Ada", ("Ada",)), ("title", None, ""),
        ("title", 2024, "2024"), ("title", "Foo: bar", "Foo: bar"), ("tags", None, ()),
    ],
)  # fmt: skip
def test_scalars_where_lists_are_wanted_are_read_as_they_look(
    key: str, value: Any, read_as: Any
) -> None:
    record, problems = read(PAGE | {key: value})
    assert record is not None and getattr(record, key) == read_as
    assert not [p for p in problems if p.severity == "error"]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("lifecycle", "draft"), ("origin", "rumour"), ("confidence", 2), ("confidence", True),
        ("confidence", "high"), ("revision", 0), ("revision", "1"), ("revision", True),
        ("fields", "text"), ("tags", [["a"]]), ("evidence", ["text"]), ("evidence", [{}]),
        ("owner", ["pg"]), ("title", ["x"]), ("lifecycle_change", 3),
    ],
)  # fmt: skip
def test_a_wrong_value_is_an_error_at_its_line(key: str, value: Any) -> None:
    document = parse(new_document(CLAIM | {key: value}, "\nText.\n"))
    _, problems = model.read_record(document)
    errors = [p for p in problems if p.severity == "error"]
    assert errors and errors[0].line == document.lines[key]
    assert key in errors[0].message or key == "evidence"


def test_references_are_those_of_every_part_in_order() -> None:
    first, second, third = (f"pg_{n * 26}" for n in "123")
    record, _ = read(CLAIM | {"dependencies": [first], "entities": [second], "owner": third})
    assert record is not None
    assert [(r.via, r.target) for r in record.references()] == [
        ("dependencies", first), ("entities", second), ("owner", third),
    ]  # fmt: skip
    record, _ = read(RELATIONSHIP | {"from": first, "to": second})
    assert record is not None
    assert [(r.via, r.target) for r in record.references()] == [
        ("endpoint", first), ("endpoint", second),
    ]  # fmt: skip
