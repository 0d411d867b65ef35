"""Ids: opaque, well formed, in the order of their age, and the same for the same bytes."""

from __future__ import annotations

import hashlib
import re

from hypothesis import given
from hypothesis import strategies as st

from vault_kg.records import ids

MILLISECONDS = st.integers(0, (1 << 48) - 1)
FORM = re.compile(r"(pg|cl|re|sr)_[0-9a-hjkmnp-tv-z]{26}")


@given(st.sampled_from(sorted(ids.PREFIXES)), MILLISECONDS)
def test_a_new_id_is_well_formed_and_names_its_kind(kind: str, at: int) -> None:
    made = ids.new_id(kind, at)
    assert FORM.fullmatch(made) and ids.is_id(made)
    assert ids.kind_of(made) == kind and not ids.is_note(made)


@given(MILLISECONDS, MILLISECONDS)
def test_ids_sort_by_age(first: int, second: int) -> None:
    older, newer = sorted((first, second))
    if older != newer:
        assert ids.new_id("page", older) < ids.new_id("page", newer)


def test_ids_of_one_moment_differ() -> None:
    assert len({ids.new_id("page", 1_700_000_000_000) for _ in range(10_000)}) == 10_000


@given(st.text(min_size=1, max_size=20), st.binary(max_size=20))
def test_a_source_id_is_that_of_partition_and_bytes(partition: str, content: bytes) -> None:
    digest = hashlib.sha256(content).hexdigest()
    made = ids.source_id(partition, digest)
    assert FORM.fullmatch(made) and made.startswith("sr_") and ids.kind_of(made) is None
    assert made == ids.source_id(partition, digest) != ids.source_id(partition + "x", digest)


def test_a_source_id_is_computed_as_the_format_says() -> None:
    """The first 26 characters of SHA-256 in lower-case Crockford base 32, bit by bit."""
    digest = hashlib.sha256(b"bytes").hexdigest()
    bits = "".join(f"{byte:08b}" for byte in hashlib.sha256(f"main\n{digest}".encode()).digest())
    spelled = "".join(ids.ALPHABET[int(bits[n : n + 5], 2)] for n in range(0, 130, 5))
    assert ids.source_id("main", digest) == f"sr_{spelled}"


@given(st.text(max_size=40))
def test_any_text_is_an_id_only_where_it_has_the_form(text: str) -> None:
    assert ids.is_id(text) == bool(FORM.fullmatch(text))


@given(st.sampled_from(sorted(ids.PREFIXES)), MILLISECONDS, st.integers(0, 28), st.characters())
def test_a_changed_character_makes_another_id_or_none(
    kind: str, at: int, place: int, character: str
) -> None:
    made = ids.new_id(kind, at)
    changed = made[:place] + character + made[place + 1 :]
    assert ids.is_id(changed) == bool(FORM.fullmatch(changed))
    for damaged in (made[:-1], made + "0", made.upper(), f" {made}", f"{made}\n"):
        assert not ids.is_id(damaged)


@given(st.text(max_size=60))
def test_a_note_uid_is_told_from_a_record_id(path: str) -> None:
    assert ids.is_note(ids.note_id(path)) and not ids.is_id(ids.note_id(path))
