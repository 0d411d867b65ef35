from __future__ import annotations

import subprocess
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_kg.errors import InvalidArgument
from vault_kg.store.git_message import (
    format_commit,
    format_message,
    format_person,
    parse_commit,
    trailers_of,
)

NOON = datetime(2026, 1, 5, 12, 0, tzinfo=UTC)
KEYS = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9-]{0,12}", fullmatch=True)
VALUES = st.text(st.characters(exclude_characters="\n\r\0", exclude_categories=["Cs"]))
TRAILERS = st.lists(st.tuples(KEYS, VALUES), max_size=4)


@given(st.text(), st.text(), TRAILERS)
def test_the_trailers_read_are_the_trailers_given_whatever_subject_and_body_say(
    subject, body, trailers
):
    message = format_message(subject, body, trailers).decode()
    stripped = [(key, value.strip(" \t").rstrip()) for key, value in trailers]
    assert trailers_of(message) == stripped


@given(st.text(), st.text(), TRAILERS)
def test_the_subject_is_one_line_and_is_followed_by_an_empty_one(subject, body, trailers):
    lines = format_message(subject, body, trailers).decode().split("\n")
    assert lines[0].strip()
    assert len(lines[0]) <= 200
    assert lines[1] == ""


def test_git_reads_the_same_trailers():
    trailers = [("Vault-Kg-Request", "r-1"), ("Vault-Kg-Guard", '{"id": "cl_1", "é": "%0A"}')]
    message = format_message("withdraw", "A reason.\n\nNot-A: trailer", trailers)
    read = subprocess.run(
        ["git", "interpret-trailers", "--parse"], input=message, capture_output=True, check=True
    )
    assert read.stdout.decode().splitlines() == [f"{key}: {value}" for key, value in trailers]


def test_a_body_that_ends_like_trailers_gives_none():
    message = format_message("s", "Text.\n\nGuard: withdrawn pg_1\nOther: x", []).decode()
    assert trailers_of(message) == []
    assert "Guard: withdrawn pg_1" in message
    read = subprocess.run(
        ["git", "interpret-trailers", "--parse"], input=message, capture_output=True, text=True
    )
    assert read.stdout == ""


@pytest.mark.parametrize("key", ["", "a b", "a:b", "é", "-a", "a\n"])
def test_a_key_that_git_would_not_read_is_refused(key):
    with pytest.raises(InvalidArgument):
        format_message("s", "", [(key, "v")])


@given(st.text(), st.text())
def test_a_person_is_one_line_with_one_address(name, email):
    line = format_person(name, email, NOON)
    assert line.count(b"<") == line.count(b">") == 1
    assert b"\n" not in line
    assert b"\0" not in line
    assert line.endswith(b"> 1767614400 +0000")
    assert not line.startswith((b" ", b"<"))


def test_a_person_without_a_name_is_unknown():
    assert format_person(" \n<>", "", NOON) == b"unknown <> 1767614400 +0000"


def test_the_time_is_told_in_utc():
    there = NOON.astimezone(timezone(timedelta(hours=5, minutes=30)))
    assert format_person("A", "a@x", there) == format_person("A", "a@x", NOON)


def test_a_time_without_a_zone_is_refused():
    with pytest.raises(InvalidArgument):
        format_person("A", "a@x", datetime(2026, 1, 5))


def test_a_commit_reads_back_as_it_was_written():
    author = format_person("Ada É", "ada@x", NOON)
    committer = format_person("vault-kg", "v@x", NOON)
    message = format_message("subject", "body", [("K", "v")])
    parsed = parse_commit(format_commit("1" * 40, ["2" * 40, "3" * 40], author, committer, message))
    assert (parsed.tree, parsed.parents) == ("1" * 40, ("2" * 40, "3" * 40))
    assert parsed.at == NOON
    assert parsed.authored_by == ("Ada É", "ada@x")
    assert parsed.committed_by == ("vault-kg", "v@x")
    assert (parsed.subject, parsed.trailers) == ("subject", [("K", "v")])


@pytest.mark.parametrize(
    "header",
    [
        b"author \ncommitter ",
        b"author A <a@x> 99999999999999999 +0000\ncommitter A <a@x> 99999999999999999 +0000",
        b"author A <a@x> -5 +0000\ncommitter A <a@x> -5 +0000",
        b"author \xff\xfe <x> 1 +0000\ncommitter broken\nencoding no-such-encoding",
        b"author A <a@x> 1 +0000\ncommitter A <a@x> 1 +0000\ngpgsig -----BEGIN\n abc\n -----END",
    ],
)
def test_an_odd_commit_of_somebody_else_can_be_read(header):
    parsed = parse_commit(b"tree " + b"1" * 40 + b"\n" + header + b"\n\nsubject \xff\n\nK: v\n")
    assert parsed.subject.startswith("subject")
    assert parsed.trailers == [("K", "v")]
    assert parsed.at.tzinfo is UTC
    assert isinstance(parsed.authored_by, tuple)
