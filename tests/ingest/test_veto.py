"""Names that an identifier tells apart are never one thing; names that none does may be."""

from __future__ import annotations

import pytest

from vault_kg.ingest.nearness import Named, Names, resemblance
from vault_kg.ingest.veto import differs

APART = [
    ("ADR 2018", "ADR 2019"), ("RFC 9110", "RFC 9111"), ("Q3 2025", "Q4 2025"),
    ("v0.15.0", "v0.16.2"), ("Phase A", "Phase B"), ("UK", "USA"), ("ACDS", "ACDM"),
    ("World War II", "World War III"), ("Elizabeth I", "Elizabeth II"), ("Brett A.", "Brett B."),
    ("B2B", "B2C"), ("iPhone 4", "iPhone 4S"), ("ISO 9001", "ISO 9001:2015"), ("ADR", "ADR 2019"),
    ("Plan 9", "Plan 10"), ("Team Ａ", "Team B"),
]  # fmt: skip
PERHAPS_ONE = [
    ("PostgreSQL", "Postgres"), ("GPT-4", "GPT 4"), ("GPT4", "GPT-4"), ("IBM", "IBM Corp"),
    ("2019 ADR", "ADR 2019"), ("NASA", "nasa"), ("J. Smith", "John Smith"), ("v1.2", "1.2"),
    ("A Study in Scarlet", "Study in Scarlet"), ("Ada’s engine", "Ada engine"),
    ("Room 007", "Room 7"), ("SpaceX", "Space X"),
]  # fmt: skip


@pytest.mark.parametrize(("first", "second"), APART)
def test_an_identifier_tells_two_names_apart(first: str, second: str) -> None:
    assert differs(first, second) and differs(second, first)


@pytest.mark.parametrize(("first", "second"), PERHAPS_ONE)
def test_without_one_two_names_may_be_one_thing(first: str, second: str) -> None:
    assert differs(first, second) is None and differs(second, first) is None


@pytest.mark.parametrize(("first", "second"), APART + PERHAPS_ONE)
def test_resemblance_has_no_direction(first: str, second: str) -> None:
    assert resemblance(first, second) == resemblance(second, first)


@pytest.mark.parametrize(
    ("first", "second"),
    [("PostgreSQL", "Postgres"), ("GPT-4", "GPT 4"), ("IBM", "IBM Corp"), ("Babbage", "Babage")],
)
def test_what_may_be_one_thing_is_found_by_its_name(first: str, second: str) -> None:
    (near,) = Names([Named("pg_1", first), Named("pg_2", "Something else")]).near(second)
    assert (near.other, near.vetoed) == (Named("pg_1", first), None) and near.reason


def test_a_name_is_not_near_itself_in_another_case() -> None:
    assert not list(Names([Named("pg_1", "NASA")]).near("nasa"))


def test_what_looks_alike_and_differs_by_a_number_is_told_as_vetoed() -> None:
    (near,) = Names([Named(None, "ADR 2018")]).near("ADR 2019")
    assert near.vetoed == "number or letter: 2019 against 2018"
