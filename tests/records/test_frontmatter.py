"""Front matter is read within bounds, and a write changes only the lines it must."""

from __future__ import annotations

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vault_kg.records import frontmatter
from vault_kg.records.frontmatter import (
    REMOVE,
    FrontMatterError,
    displaced_block,
    edit,
    new_document,
    parse,
)

BATTERY = """\
---
# a comment of its own
format: knowledge-record-v1
title: "Ada Lovelace"   # the title
ver: 1.10
on: yes
born: 1815-12-10
seen: 2026-01-05T10:00:00Z
mode: 0755
folded: >
  two
  lines

tags:
- b
# between
- a   # last by order
aliases: [Ada, 'Countess', "日本語",  café]
fields:   # typed
  n: 3

  deep: {x: 1,  y: [a]}
---

# Title

---
not: front matter
---

end"""


def changed_lines(before: bytes, after: bytes) -> tuple[list[bytes], list[bytes]]:
    """Return the lines that only one of two files has, between their common ends."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    while old and new and old[0] == new[0]:
        del old[0], new[0]
    while old and new and old[-1] == new[-1]:
        del old[-1], new[-1]
    return old, new


def edited(text: str, **changes: object) -> str:
    raw = text.encode()
    return edit(parse(raw), changes).decode()  # type: ignore[arg-type]


# Reading


def test_a_document_says_what_stands_where() -> None:
    document = parse(b"---\nid: pg_1\n# c\ntags:\n  - a\n---\nbody\nmore\n")
    assert document.fields == {"id": "pg_1", "tags": ["a"]}
    assert document.lines == {"id": 2, "tags": 4}
    assert (document.body, document.body_line) == ("body\nmore\n", 7)
    assert (document.has_bom, document.newline, document.has_front_matter) == (False, "\n", True)


@pytest.mark.parametrize(
    ("raw", "newline"),
    [
        (b"---\r\na: 1\r\n---\r\nbody\r\n", "\r\n"),
        (b"\xef\xbb\xbf---\na: 1\n---\nbody\r\n", "\n"),
        (b"---  \na: 1\n---\t\nbody\r\n", "\n"),
        (b"---\na: 1\n...\nbody\r\n", "\n"),
        (b"---\ra: 1\r---\rbody\r\n", "\r"),
    ],
)
def test_fences_marks_and_line_breaks_are_understood(raw: bytes, newline: str) -> None:
    document = parse(raw)
    assert document.fields == {"a": 1}
    assert document.lines == {"a": 2}
    assert (document.body, document.body_line) == ("body\r\n", 4)
    assert document.newline == newline
    assert document.has_bom == raw.startswith(b"\xef\xbb\xbf")


@pytest.mark.parametrize(
    "raw",
    [
        b"", b" \n\t\n", b"# Title\n", b"--\n", b"----\na: 1\n----\n", b"--- a: 1\n---\n",
        b" ---\na: 1\n---\n", b"\n---\na: 1\n---\n", b"--- # c\na: 1\n---\n",
        b"\xef\xbb\xbf", b"\xef\xbb\xbftext",
    ],
)  # fmt: skip
def test_a_file_without_a_fence_at_its_first_byte_is_all_body(raw: bytes) -> None:
    document = parse(raw)
    assert (document.has_front_matter, document.fields, document.lines) == (False, {}, {})
    assert document.body == raw.decode().removeprefix("\ufeff")
    assert document.body_line == 1


@pytest.mark.parametrize("raw", [b"---\n---\n", b"---\n# only a comment\n\n---\n", b"---\n---"])
def test_an_empty_block_has_no_fields(raw: bytes) -> None:
    document = parse(raw)
    assert (document.has_front_matter, document.fields, document.body) == (True, {}, "")


def test_a_block_behind_blank_lines_is_not_front_matter_and_is_pointed_out() -> None:
    assert displaced_block(parse(b"\n \r\n---\na: 1\n---\n")) == 3
    assert displaced_block(parse(b"\ntext\n---\n")) is None
    assert displaced_block(parse(b"---\na: 1\n---\n\n---\n")) is None
    assert displaced_block(parse(b"\r\n" * 50_000)) is None


@pytest.mark.parametrize(
    ("raw", "line", "reason"),
    [
        (b"---", 1, "not closed"),
        (b"---\n", 1, "not closed"),
        (b"---\ntitle: x\n\nbody\n", 1, "not closed"),
        (b"---\na: 1\n---\nb\xff\n", 4, "UTF-8"),
        ("---\na: 1\n---\n".encode("utf-16"), 1, "UTF-8"),
        (b"---\na: 1\nb: 2\na: 3\n---\n", 4, "'a' stands twice"),
        (b"---\na:\n  b: 1\n  b: 2\n---\n", 4, "'b' stands twice"),
        (b"---\n- a\n---\n", 2, "key: value"),
        (b"---\nProse behind a rule.\n---\n", 2, "key: value"),
        (b"---\n~\n---\n", 2, "key: value"),
        (b"---\na: [1,\n---\n", 3, "while parsing a flow"),
        (b"---\na: 1\n\tb: 2\n---\n", 3, ""),
        (b"---\na: !foo 1\n---\n", 2, "!foo"),
        (b"---\na: !!python/object:os.system x\n---\n", 2, "python/object"),
        (b"---\na: !!binary aGk=\n---\n", 2, "!!binary"),
        (b"---\ntitle: {{title}}\n---\n", 2, "where a key should"),
        (b"---\na: *b\n---\n", 2, "*b refers to no anchor"),
        (b"---\na: &a [*a]\n---\n", 2, "inside what it refers to"),
        (b"---\na: x\nb: \x07\n---\n", 3, "U+0007"),
        (b'---\na: "\\ud800"\n---\n', 2, ""),
        (b"---\na: 1\n--- b\nc: 1\n---\n", 3, "second YAML document"),
        (b"---\n\xef\xbb\xbfa: 1\n---\n", 2, "byte order mark"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_line(raw: bytes, line: int, reason: str) -> None:
    with pytest.raises(FrontMatterError, match=r"line \d+: ") as caught:
        parse(raw)
    assert caught.value.line == line
    assert reason in caught.value.reason


def test_a_file_over_the_limit_is_refused() -> None:
    body = "x" * (frontmatter.MAX_RECORD_BYTES - 4)
    assert parse(f"{body}\n".encode()).body
    with pytest.raises(FrontMatterError, match="larger than 10 MB"):
        parse(b"x" * (frontmatter.MAX_RECORD_BYTES + 1))


def _bomb(levels: int) -> bytes:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    for level in range(1, levels):
        lines.append(f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 9)}]")
    return "\n".join(["---", *lines, "---", ""]).encode()


@pytest.mark.parametrize(
    "raw",
    [
        _bomb(9),
        b"---\na: &a " + b"x" * 1_000_000 + b"\nb: [" + b"*a, " * 100 + b"]\n---\n",
        b"---\na: " + b"[" * 100_000 + b"\n---\n",
        b"---\na: " + b"- " * 100_000 + b"\n---\n",
        b"---\na: &a "
        + b"[" * 40
        + b"]" * 40
        + b"\nb: "
        + b"[" * 40
        + b"*a"
        + b"]" * 40
        + b"\n---\n",
    ],
)
def test_bombs_are_refused_before_they_cost_anything(raw: bytes) -> None:
    begin = time.perf_counter()
    with pytest.raises(FrontMatterError):
        parse(raw)
    assert time.perf_counter() - begin < 0.5  # a few milliseconds on an idle machine


def test_aliases_within_the_bounds_are_expanded_to_copies() -> None:
    fields = parse(b"---\na: &a [1, {b: 2}]\nc: *a\n<<: *a\n---\n").fields
    assert fields == {"a": [1, {"b": 2}], "c": [1, {"b": 2}], "<<": [1, {"b": 2}]}
    assert fields["a"] is not fields["c"]


@given(st.binary(max_size=60), st.sampled_from([b"", b"---\n", b"\xef\xbb\xbf---\r\n"]))
@example(b"\x00\xff", b"---\n")
@example(b'a: "\\U00110000"\n---\n', b"---\n")
@example(b"a: !%ED%A0%80 x\n---\n", b"---\n")
@example(b"a: 0x" + b"f" * 5000 + b"\n---\n", b"---\n")
def test_no_bytes_raise_anything_but_a_front_matter_error(raw: bytes, opening: bytes) -> None:
    for content in (opening + raw, opening + raw + b"\n---\n"):
        try:
            document = parse(content)
        except FrontMatterError as error:
            assert 1 <= error.line <= content.count(b"\n") + content.count(b"\r") + 1
        else:
            assert document.raw == content


# Public cases


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("tags: 2024", 2024),
        ("tags: [a, 1, 2024-01-05, null]", ["a", 1, "2024-01-05", None]),
        ("aliases: Ada", "Ada"),
        ("title:", None),
        ("title: Foo: bar", "Foo: bar"),
        ("born: 2024-01-05", "2024-01-05"),
        ("born: '2024-01-05'", "2024-01-05"),
        ("seen: 2024-01-05T10:00:00Z", "2024-01-05T10:00:00Z"),
        ("flag: no", "no"),
        ("flag: false", False),
        ("n: 1e3", 1000.0),
        ("n: '1e3'", "1e3"),
        ("n: 0.1", 0.1),
        ("mode: 0755", 755),
        ("mode: '0755'", "0755"),
        ("mode: 0o17", 15),
        ("mode: 0x1F", 31),
        ("ver: 1.10", 1.1),
        ("none: ~", None),
    ],
)
def test_every_form_of_value_is_read_and_keeps_its_bytes(line: str, value: object) -> None:
    key = line.partition(":")[0]
    text = f"---\n{line}\n---\nbody\n"
    document = parse(text.encode())
    assert repr(document.fields[key]) == repr(value)
    assert edit(document, dict(document.fields)) == document.raw
    assert edited(text, other=1) == f"---\n{line}\nother: 1\n---\nbody\n"


def test_an_unquoted_colon_is_read_and_noticed() -> None:
    document = parse(b"---\na: 1\ntitle: Foo: bar\n---\n")
    assert [notice.line for notice in document.notices] == [3]
    assert "quoted" in document.notices[0].reason


@pytest.mark.parametrize("value", [1, True, "1", 1.0, None, "true", "null", "2024-01-05", "no"])
def test_a_value_of_another_type_is_a_change_and_of_the_same_none(value: object) -> None:
    for other in (1, True, "1", 1.0, None, "true", "null", "2024-01-05", "no"):
        raw = new_document({"a": other}, "body\n")  # type: ignore[dict-item]
        written = edit(parse(raw), {"a": value})  # type: ignore[dict-item]
        assert (written == raw) == (repr(value) == repr(other))
        assert repr(parse(written).fields["a"]) == repr(value)


# Byte battery


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize(
    ("changes", "old", "new"),
    [
        (
            {"title": "Ada"},
            ['title: "Ada Lovelace"   # the title\n'],
            ['title: "Ada"   # the title\n'],
        ),
        ({"ver": "1.10"}, ["ver: 1.10\n"], ["ver: '1.10'\n"]),
        ({"on": "no"}, ["on: yes\n"], ["on: 'no'\n"]),
        ({"tags": ["b", "a", "c"]}, [], ["- c\n"]),
        ({"tags": ["a"]}, ["- b\n"], []),
        ({"seen": REMOVE}, ["seen: 2026-01-05T10:00:00Z\n"], []),
        ({"new": {"k": ["v"]}}, [], ["new:\n", "  k:\n", "    - v\n"]),
        ({"fields": {"n": 4, "deep": {"x": 1, "y": ["a"]}}}, ["  n: 3\n"], ["  n: 4\n"]),
        (
            {"fields": {"n": 3, "deep": {"x": 1, "y": ["a", "b"]}}},
            ["  deep: {x: 1,  y: [a]}\n"],
            ["  deep: {x: 1,  y: [a, b]}\n"],
        ),
        ({"folded": "x"}, ["folded: >\n", "  two\n", "  lines\n"], ["folded: x\n"]),
    ],
)
def test_a_change_of_one_key_leaves_all_other_bytes(
    changes: dict[str, object], old: list[str], new: list[str], newline: str, mark: str
) -> None:
    raw = (mark + BATTERY.replace("\n", newline)).encode()
    written = edit(parse(raw), changes)  # type: ignore[arg-type]
    broken = [[line.replace("\n", newline).encode() for line in lines] for lines in (old, new)]
    assert changed_lines(raw, written) == (broken[0], broken[1])


def test_mixed_line_breaks_stay_where_they_are() -> None:
    raw = b"---\r\na: 1\nb: 2\r\nc: 3\n---\nbody\r\nend\n"
    assert edit(parse(raw), {"b": 4, "d": 5}) == (
        b"---\r\na: 1\nb: 4\r\nc: 3\nd: 5\r\n---\nbody\r\nend\n"
    )


# The body


def test_a_new_body_takes_the_line_breaks_of_the_file() -> None:
    document = parse(b"---\r\na: 1\r\n---\r\nold\r\n")
    assert edit(document, {}, "new\ntext\r\n") == b"---\r\na: 1\r\n---\r\nnew\r\ntext\r\n"


def test_lines_of_a_body_that_stay_keep_their_line_breaks() -> None:
    document = parse(b"---\na: 1\n---\none\r\ntwo\nthree\r\nfour")
    assert (
        edit(document, {}, "one\nTWO\nthree\nfour") == b"---\na: 1\n---\none\r\nTWO\nthree\r\nfour"
    )


def test_a_body_without_a_final_line_break_stays_so() -> None:
    raw = b"---\na: 1\n---\nend"
    assert edit(parse(raw), {"a": 2}) == b"---\na: 2\n---\nend"
    assert edit(parse(b"---\na: 1\n---"), {"a": 2}) == b"---\na: 2\n---"


def test_a_body_is_put_below_a_fence_that_ends_the_file() -> None:
    assert edit(parse(b"---\na: 1\n---"), {}, "text") == b"---\na: 1\n---\ntext"


def test_a_body_that_looks_like_front_matter_is_kept_apart() -> None:
    assert edit(parse(b"text"), {}, "---\na: 1\n---\n") == b"---\n---\n---\na: 1\n---\n"
    document = parse(edit(parse(b"text"), {}, "\ufeffx"))
    assert (document.body, document.has_bom) == ("\ufeffx", False)


# Files without front matter, and new ones


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"", b"---\na: 1\n---\n"),
        (b"# Title\n\ntext", b"---\na: 1\n---\n# Title\n\ntext"),
        (b"\xef\xbb\xbf# T\r\n", b"\xef\xbb\xbf---\r\na: 1\r\n---\r\n# T\r\n"),
        (b"\n---\nb: 2\n---\n", b"---\na: 1\n---\n\n---\nb: 2\n---\n"),
    ],
)
def test_a_file_without_front_matter_gets_a_block_above_its_bytes(
    raw: bytes, expected: bytes
) -> None:
    document = parse(raw)
    assert edit(document, {"a": 1}) == expected
    assert edit(document, {"a": REMOVE}) == raw


def test_a_new_document_has_its_fields_in_the_order_given() -> None:
    fields = {"title": "Foo: bar", "at": "2026-01-05T10:00:00Z", "tags": ["b", "a"], "n": None}
    assert new_document(fields, "text\n") == (
        b"---\ntitle: 'Foo: bar'\nat: '2026-01-05T10:00:00Z'\ntags:\n  - b\n  - a\n'n': null\n"
        b"---\ntext\n"
    )
    assert new_document({}, "a\nb", "\r\n") == b"---\r\n---\r\na\r\nb"


@pytest.mark.parametrize("value", [(1,), {1: 2}, b"x", object(), {"a": [{1}]}, time])
def test_a_value_of_a_foreign_type_is_refused(value: object) -> None:
    with pytest.raises(TypeError, match="key"):
        new_document({"key": value}, "")  # type: ignore[dict-item]


def test_text_that_no_file_can_hold_is_refused() -> None:
    for fields, body in (({"a": "\ud800"}, ""), ({"\udfff": 1}, ""), ({}, "\ud800")):
        with pytest.raises(ValueError, match="surrogate"):
            new_document(fields, body)  # type: ignore[arg-type]


def test_values_beyond_the_bounds_of_the_reader_are_refused() -> None:
    deep: list[object] = []
    for _ in range(60):
        deep = [deep]
    with pytest.raises(ValueError, match="levels deep"):
        new_document({"a": deep}, "")  # type: ignore[dict-item]
    with pytest.raises(FrontMatterError, match="100,000 values"):
        new_document({"a": [1] * 100_001}, "")
    with pytest.raises(FrontMatterError, match="10 MB"):
        new_document({}, "x" * 10_000_000)
    with pytest.raises(ValueError, match="digits"):
        new_document({"a": 10**5000}, "")


def test_fields_that_a_caller_changed_in_place_do_not_mislead_an_edit() -> None:
    document = parse(b"---\na: [1]\nb: 2\n---\n")
    document.fields["a"] = [9]
    assert edit(document, {"b": 3}) == b"---\na: [1]\nb: 3\n---\n"
