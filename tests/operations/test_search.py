"""Searching as a caller does: what is found, in which order, behind which filter, page by page."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.operations.builder import ANYBODY, Clock, VaultBox, made_id, record_file
from tests.operations.conftest import fast_folder
from vault_kg.errors import InvalidArgument
from vault_kg.operations.caller import Caller

Hits = list[dict[str, Any]]


def search(box: VaultBox, query: str, caller: Caller = ANYBODY, **more: Any) -> dict[str, Any]:
    return box.call("knowledge_search", caller, query=query, **more)


def titles(box: VaultBox, query: str, **more: Any) -> list[str]:
    return [hit["title"] for hit in search(box, query, **more)["hits"]]


def every(box: VaultBox, query: str, limit: int, **more: Any) -> tuple[Hits, list[int]]:
    """Follow the cursors to the end; returns all hits and the totals that were told."""
    hits: Hits = []
    totals = []
    cursor = None
    while True:
        found = search(box, query, limit=limit, cursor=cursor, **more)
        hits += found["hits"]
        totals.append(found["total"])
        cursor = found["nextCursor"]
        if cursor is None:
            return hits, totals
        assert len(found["hits"]) == limit


@pytest.fixture(scope="module")
def library() -> Iterator[VaultBox]:
    """Notes and records that the tests of this module only read."""
    with fast_folder() as folder:
        box = VaultBox(Path(folder) / "vault", Clock())
        for number in range(9):
            box.put(f"partial {number}.md", f"The engine number {number}, and other things.")
        box.put("exact.md", "On the analytical engine of Babbage.")
        for name, text in NAMED.items():
            box.put(f"{name}.md", text)
        for number in range(40):
            box.put(f"kiwi/kiwi {number:02}.md", f"A kiwi is a fruit.\n\n# More\n\nkiwi {number}")
        box.put("tags.md", "---\ntags: [Fruit/Citrus]\n---\nA lemon is sour. #kitchen")
        box.put("three passages.md", "# One\nmango\n# Two\nmango mango mango\n# Three\nmango")
        box.scan()
        yield box
        box.ws.close()


NAMED = {
    "Łódź": "A city.",
    "Ærøskøbing": "A town on an island.",
    "наука": "Знание о мире.",
    "東京都": "首都である。",
    unicodedata.normalize("NFD", "naïve"): "Without experience.",
    "naive": "The other spelling.",
    "双向链接": "一个笔记指向另一个,另一个也指向它。",
    "Q3 report": "Numbers.",
    "version": "Since v1.2.3 the call foo_bar of C++ takes a-b.",
}


def test_an_exact_match_goes_before_nine_partial_ones_and_the_order_is_stable(
    library: VaultBox,
) -> None:
    order = titles(library, "analytical engine Babbage")
    assert order[0] == "exact" and len(order) == 10
    assert order == titles(library, "analytical engine Babbage")


@pytest.mark.parametrize("name", NAMED)
def test_the_name_of_a_record_finds_it_first_in_any_form(library: VaultBox, name: str) -> None:
    for form in ("NFC", "NFD"):
        typed = unicodedata.normalize(form, name)
        for query in (typed, typed.upper(), typed.casefold()):
            first = search(library, query)["hits"][0]
            if first["title"].casefold() != "naive" or name == "naive":
                assert unicodedata.normalize(form, first["title"]) == typed
            assert first["search"]["exact_name"]


def test_an_accent_as_typed_goes_before_one_that_only_folds_to_it(library: VaultBox) -> None:
    accented = unicodedata.normalize("NFD", "naïve")
    assert titles(library, "naïve")[:2] == [accented, "naive"]
    assert titles(library, "naive")[:2] == ["naive", accented]


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("链接", "双向链接"),
        ("双向", "双向链接"),
        ("接", "双向链接"),
        ("東京", "東京都"),
        ("京", "東京都"),
        ("v1.2.3", "version"),
        ("foo_bar", "version"),
        ("C++", "version"),
        ("a-b", "version"),
        ("знани", "наука"),
        ("lodz", "Łódź"),
        ("aeroskobing", "Ærøskøbing"),
    ],
)
def test_a_part_of_a_word_without_spaces_and_a_word_with_symbols_are_found(
    library: VaultBox, query: str, title: str
) -> None:
    if query == "знани":
        query = "знание"
    assert titles(library, query)[0] == title


def test_gibberish_finds_nothing(library: VaultBox) -> None:
    found = search(library, "zxqv wvkj", minSimilarity=0.3)
    assert (found["hits"], found["total"], found["nextCursor"]) == ([], 0, None)


@pytest.mark.parametrize("per_record", [True, False])
@pytest.mark.parametrize("limit", [1, 7, 100])
def test_the_pages_of_a_search_are_all_of_it_once_in_one_order(
    library: VaultBox, limit: int, per_record: bool
) -> None:
    hits, totals = every(library, "kiwi fruit", limit, perRecord=per_record)
    assert set(totals) == {40 if per_record else 80}
    assert len(hits) == totals[0]
    places = [(hit["path"], hit["lines"]) for hit in hits]
    assert len(set(places)) == len(places)
    whole, _ = every(library, "kiwi fruit", 100, perRecord=per_record)
    assert places == [(hit["path"], hit["lines"]) for hit in whole]
    scores = [hit["search"]["rrf_score"] for hit in hits]
    assert scores == sorted(scores, reverse=True)


def test_equal_hits_go_by_id(library: VaultBox) -> None:
    hits, _ = every(library, "fruit", 100)
    assert [hit["id"] for hit in hits] == sorted(hit["id"] for hit in hits)


def test_a_cursor_of_another_query_is_refused(library: VaultBox) -> None:
    cursor = search(library, "kiwi", limit=3)["nextCursor"]
    with pytest.raises(InvalidArgument, match="cursor"):
        search(library, "mango", limit=3, cursor=cursor)


def test_a_record_is_one_hit_by_its_best_passage_unless_passages_are_asked(
    library: VaultBox,
) -> None:
    (hit,) = search(library, "mango")["hits"]
    assert (hit["heading"], hit["lines"]) == ("Two", "3-4")
    passages = search(library, "mango", perRecord=False)["hits"]
    assert next(p["heading"] for p in passages) == "Two"
    assert {p["lines"] for p in passages} == {"1-2", "3-4", "5-6"}


def test_every_hit_says_why_it_was_found(library: VaultBox) -> None:
    for hit in search(library, "engine Babbage nothing")["hits"]:
        evidence = hit["search"]
        assert evidence["text_match"] and evidence["bm25_score"] > 0
        assert evidence["similarity"] is None
        assert evidence["matched_terms"] and evidence["rrf_score"] > 0
        marked = {hit["snippet"][start:end].lower() for start, end in hit["marks"]}
        assert marked == {term.lower() for term in evidence["matched_terms"]}


def test_a_word_left_out_takes_away_the_record_wherever_it_stands(library: VaultBox) -> None:
    assert "three passages" in titles(library, "mango")
    assert titles(library, "mango -one") == []
    assert "exact" not in titles(library, "engine -analytical", limit=100)


def test_a_phrase_must_stand_as_it_is(library: VaultBox) -> None:
    assert titles(library, '"analytical engine"') == ["exact"]
    assert titles(library, '"engine analytical"') == []


@pytest.mark.parametrize(
    "tag", ["fruit", "FRUIT/citrus", "#fruit/citrus", "kitchen"]
)  # fmt: skip
def test_a_tag_holds_for_what_lies_below_it_in_the_query_or_beside(
    library: VaultBox, tag: str
) -> None:
    assert titles(library, "lemon", tags=[tag]) == ["tags"]
    assert titles(library, f"lemon tag:{tag}") == ["tags"]
    assert titles(library, "kiwi", tags=[tag]) == []


def test_lists_may_come_as_json_text(library: VaultBox) -> None:
    assert titles(library, "lemon", tags='["kitchen"]', kinds='["note"]') == ["tags"]


def test_without_a_model_words_answer_and_the_answer_says_so(library: VaultBox) -> None:
    found = search(library, "kiwi")
    assert found["semantic"]["state"] == "off" and found["semantic"]["reason"]
    assert found["hits"]
    assert search(library, "kiwi", mode="semantic")["hits"] == []


TYPED = st.text(max_size=60) | st.lists(
    st.sampled_from(
        [
            *"\"'()*^:-+{\n\x00\ud800😀",
            *[
                "AND",
                "OR",
                "NOT",
                "NEAR(",
                "tag:",
                "type:x",
                "title:kiwi",
                "kiwi",
                "链接",
                "naïve",
                "v1.2.3",
            ],
        ]
    ),
    max_size=12,
).map(" ".join)


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(TYPED, st.sampled_from(["hybrid", "text", "semantic"]), st.booleans())
@example('"', "hybrid", True)
@example("x" * 10_000, "text", True)
@example("kiwi fruit " * 1_000, "text", False)
@example("-kiwi", "hybrid", True)
def test_whatever_is_typed_is_text_and_never_an_error(
    library: VaultBox, typed: str, mode: str, per_record: bool
) -> None:
    try:
        found = search(library, typed, mode=mode, perRecord=per_record, limit=5)
    except InvalidArgument as refusal:
        assert "\ud800" in typed or "\udfff" in typed or _has_surrogate(typed), refusal
        return
    assert found["count"] == len(found["hits"]) <= min(5, found["total"])
    for hit in found["hits"]:
        assert all(0 <= start < end <= len(hit["snippet"]) for start, end in hit["marks"])


def _has_surrogate(text: str) -> bool:
    return any("\ud800" <= char <= "\udfff" for char in text)


# Records: filters, lifecycle, partitions


@pytest.fixture(scope="module")
def crowded() -> Iterator[VaultBox]:
    """Three records of one partition among two thousand files that match better."""
    with fast_folder() as folder:
        box = VaultBox(Path(folder) / "vault", Clock())
        for number in range(2_000):
            box.put(f"notes/{number:04}.md", "kiwi kiwi kiwi")
        for number in range(3):
            text = record_file(
                made_id(number), title=f"Small {number}", body=f"\nA kiwi {'and words ' * 30}\n"
            )
            box.put(f"small/pages/person/small-{number}.md", text)
        box.scan()
        yield box
        box.ws.close()


def test_filters_hold_before_the_best_are_taken(crowded: VaultBox) -> None:
    found = search(crowded, "kiwi", partitions=["small"], limit=3)
    assert sorted(hit["title"] for hit in found["hits"]) == ["Small 0", "Small 1", "Small 2"]
    assert found["total"] == 3
    assert search(crowded, "kiwi")["total"] == 2_003
    assert search(crowded, "kiwi", includeNotes=False)["total"] == 3
    assert search(crowded, "kiwi", kinds=["page"])["total"] == 3
    assert search(crowded, "kiwi", types=["person"])["total"] == 3
    assert search(crowded, "kiwi type:Person")["total"] == 3
    assert search(crowded, "kiwi", types=["Place"])["total"] == 0


def test_a_caller_finds_nothing_outside_its_partitions(crowded: VaultBox) -> None:
    of_small = Caller("narrow", partitions=frozenset({"small"}))
    assert search(crowded, "kiwi", of_small)["total"] == 3
    assert search(crowded, "kiwi", of_small, partitions=["main"])["total"] == 0
    assert search(crowded, "kiwi", partitions=[])["total"] == 0


def test_times_of_change_are_bounds(vault: VaultBox, clock: Clock) -> None:
    clock.go_to("2026-03-02T10:00:00Z")
    vault.page("Early kiwi")
    clock.go_to("2026-03-05T10:00:00Z")
    vault.page("Late kiwi")
    assert titles(vault, "kiwi", updatedAfter="2026-03-04T00:00:00Z") == ["Late kiwi"]
    assert titles(vault, "kiwi", updatedBefore="2026-03-04T00:00:00Z") == ["Early kiwi"]


def test_what_is_superseded_is_history_and_what_is_withdrawn_is_gone(vault: VaultBox) -> None:
    page = vault.page("Ada")
    old = vault.claim(page, "The kiwi weighs one pound.")
    gone = vault.claim(page, "The kiwi is blue.")
    new = vault.correct(old, vault.claim_values(page, "The kiwi weighs two pounds."))[
        "replacementId"
    ]
    vault.withdraw(gone)
    assert {hit["id"] for hit in search(vault, "kiwi")["hits"]} == {new}
    history = search(vault, "kiwi", lifecycle="historical")["hits"]
    assert {hit["id"]: hit["lifecycle"] for hit in history} == {new: "active", old: "superseded"}


def test_a_change_is_found_by_the_next_search_and_what_it_replaced_is_not(vault: VaultBox) -> None:
    page = vault.page("Ada", body="She wrote about kiwis.")
    assert titles(vault, "kiwis") == ["Ada"]
    vault.change(page, body="She wrote about mangos.")
    assert titles(vault, "kiwis") == []
    assert titles(vault, "mangos") == ["Ada"]


def test_an_alias_finds_its_page_first(vault: VaultBox) -> None:
    vault.page("Ada Lovelace", aliases=["Countess of Lovelace", "エイダ・ラブレス"])
    vault.page("Lovelace", body="The countess of Lovelace, in many words. " * 3)
    for query in ("countess of lovelace", "エイダ・ラブレス"):
        first = search(vault, query)["hits"][0]
        assert first["title"] == "Ada Lovelace" and first["search"]["exact_name"]
        assert first["search"]["matched_terms"]


def test_a_half_typed_word_finds_and_is_marked_where_it_is_asked_for(library: VaultBox) -> None:
    assert search(library, "babba")["total"] == 0
    found = search(library, "babba", asTyped=True)
    hit = found["hits"][0]
    assert hit["path"] == "exact.md" and hit["search"]["matched_terms"] == ["babba"]
    ((start, end),) = hit["marks"]
    assert hit["snippet"][start:end] == "Babba"


@pytest.mark.parametrize("name", ["knowledge_search", "knowledge_records", "knowledge_lookup"])
def test_a_type_is_found_by_each_spelling_that_its_own_partition_declares(
    vault: VaultBox, name: str
) -> None:
    types = "page_types:\n  Vessel:\n    aliases: [ship]\n"
    vault.put("sea/ontology.yaml", types)
    vault.scan()
    boat = vault.page("Beagle", "Vessel", partition="sea")
    asked: dict[str, Any] = {
        "knowledge_search": {"query": "Beagle", "types": ["ship"]},
        "knowledge_records": {"type": "ship"},
        "knowledge_lookup": {"text": "Beagle", "type": "ship"},
    }[name]
    for more in (
        {},
        {"partitions": ["sea"]} if name == "knowledge_search" else {"partition": "sea"},
    ):
        assert boat in json.dumps(vault.call(name, **asked, **more))
