"""As it stood: at a revision, in a commit, at a time; and that the answer says of which moment it is."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.operations.builder import Clock, VaultBox
from vault_kg.errors import Cancelled, NotFound
from vault_kg.operations.caller import Caller
from vault_kg.state import journal


def titles(box: VaultBox, query: str, **more: Any) -> list[str]:
    found = box.call("knowledge_search", query=query, **more)
    assert found["asOf"] is not None
    return [hit["title"] for hit in found["hits"]]


@pytest.fixture
def moments(vault: VaultBox, clock: Clock) -> dict[str, Any]:
    """A page that was renamed and a claim that was corrected, with the moment before each."""
    page = vault.page("Early name", summary="A kiwi.")
    claim = vault.claim(page, "The kiwi weighs one pound.")
    before = {"revision": vault.position}, {"commit": vault.git("rev-parse", "HEAD")}
    clock.go_to("2026-03-10T12:00:00Z")
    vault.change(page, title="Late name", summary="A mango.")
    new = vault.correct(claim, vault.claim_values(page, "The kiwi weighs two pounds."))
    return {
        "page": page, "claim": claim, "new": new["replacementId"],
        "before": [*before, {"time": "2026-03-09"}],
    }  # fmt: skip


@pytest.mark.parametrize("kind", range(3), ids=["revision", "commit", "time"])
def test_lists_lookups_connections_and_search_answer_as_it_stood(
    vault: VaultBox, moments: dict[str, Any], kind: int
) -> None:
    then = moments["before"][kind]
    page, claim = moments["page"], moments["claim"]
    assert vault.listed(asOf=then) == {page, claim}
    assert vault.lookup("Early name", asOf=then) == page
    with pytest.raises(NotFound):
        vault.lookup("Late name", asOf=then)
    edges = vault.call("knowledge_connections", id=page, asOf=then)["edges"]
    assert [(edge["source"], edge["target"]) for edge in edges] == [(claim, page)]
    assert titles(vault, "kiwi", asOf=then) != titles(vault, "mango", asOf=then) == []
    assert "Early name" in titles(vault, "kiwi", asOf=then)
    found = vault.call("knowledge_search", query="pound", asOf=then)
    assert [hit["id"] for hit in found["hits"]] == [claim]
    assert found["semantic"]["state"] == "off"
    assert set(then) <= set(found["asOf"])


def test_the_entry_of_a_commit_is_found_without_reading_the_whole_journal(vault: VaultBox) -> None:
    page = vault.page()
    commit = vault.git("rev-parse", "HEAD")
    assert journal.of_commit(vault.ws.database, commit) == vault.position
    assert vault.listed(asOf={"commit": commit}) == {page}
    asked = "SELECT max(seq) FROM journal WHERE commit_id = ?"
    plan = list(vault.ws.database.rows(f"EXPLAIN QUERY PLAN {asked}", (commit,)))
    assert plan and not any(str(step[-1]).startswith("SCAN") for step in plan)


def test_today_s_answers_stand_beside_them(vault: VaultBox, moments: dict[str, Any]) -> None:
    assert vault.listed() == {moments["page"], moments["new"]}
    assert vault.lookup("Late name") == moments["page"]
    assert vault.call("knowledge_search", query="kiwi")["asOf"] is None


@pytest.mark.parametrize("kind", [1, 2], ids=["commit", "time"])
def test_one_record_is_read_as_it_stood(
    vault: VaultBox, moments: dict[str, Any], kind: int
) -> None:
    then = moments["before"][kind]
    view = vault.get(moments["page"], asOf=then)
    assert (view["title"], view["summary"], view["revision"]) == ("Early name", "A kiwi.", 1)
    assert set(then) <= set(view["asOf"])
    assert vault.get(moments["claim"], asOf=then)["lifecycle"] == "active"
    with pytest.raises(NotFound):
        vault.get(moments["new"], asOf=then)


def test_of_one_record_a_revision_is_its_own(vault: VaultBox, moments: dict[str, Any]) -> None:
    page = moments["page"]
    assert vault.get(page, asOf={"revision": 1})["title"] == "Early name"
    assert vault.get(page, asOf={"revision": 2})["title"] == "Late name"
    assert vault.get(page, revision=1)["hash"] == vault.get(page, asOf={"revision": 1})["hash"]
    with pytest.raises(NotFound):
        vault.get(page, asOf={"revision": 3})


def test_filters_and_pages_hold_for_a_search_of_the_past(
    vault: VaultBox, moments: dict[str, Any]
) -> None:
    then = moments["before"][1]
    assert titles(vault, "kiwi", asOf=then, kinds=["page"]) == ["Early name"]
    assert titles(vault, "kiwi", asOf=then, partitions=["other"]) == []
    first = vault.call("knowledge_search", query="kiwi", asOf=then, limit=1)
    assert (first["total"], first["count"]) == (2, 1)
    second = vault.call(
        "knowledge_search", query="kiwi", asOf=then, limit=1, cursor=first["nextCursor"]
    )
    assert {hit["id"] for hit in first["hits"] + second["hits"]} == {
        moments["page"], moments["claim"],
    }  # fmt: skip
    assert second["nextCursor"] is None


def test_what_was_withdrawn_later_is_found_in_the_past_only(vault: VaultBox) -> None:
    page = vault.page("Ada")
    claim = vault.claim(page, "The kiwi is blue.")
    then = {"revision": vault.position}
    vault.withdraw(claim)
    assert vault.call("knowledge_search", query="kiwi")["hits"] == []
    found = vault.call("knowledge_search", query="kiwi", asOf=then)["hits"]
    assert [(hit["id"], hit["lifecycle"]) for hit in found] == [(claim, "active")]
    now = {"revision": vault.position}
    assert vault.call("knowledge_search", query="kiwi", asOf=now)["hits"] == []
    history = {"asOf": now, "lifecycle": "historical"}
    assert vault.call("knowledge_search", query="kiwi", **history)["hits"] == []


def test_valid_time_counts_where_a_record_has_one(vault: VaultBox) -> None:
    tool = vault.page("Tool", "Topic")
    old = vault.claim(tool, "The version is 1.", validFrom="2018-01-01", validUntil="2021-06-30")
    new = vault.claim(tool, "The version is 2.", validFrom="2021-07-01")
    for time, claim in (("2020-03-01", old), ("2021-06-30", old), ("2021-07-01", new)):
        found = vault.call("knowledge_search", query="version", asOf={"time": time})
        assert [hit["id"] for hit in found["hits"]] == [claim]
        assert "valid time" in found["asOf"]["meaning"]
    assert [h["id"] for h in vault.call("knowledge_search", query="version")["hits"]] == [new]


def test_an_unknown_commit_is_refused(vault: VaultBox) -> None:
    vault.page("Ada")
    with pytest.raises(NotFound, match="commit"):
        vault.call("knowledge_search", query="Ada", asOf={"commit": "0" * 40})


def test_what_had_come_to_its_end_was_no_more_eligible_then(vault: VaultBox, clock: Clock) -> None:
    page = vault.page("Ada")
    short = vault.claim(page, "The kiwi is green.", expiresAt="2026-03-05T00:00:00Z")
    long = vault.claim(page, "The kiwi is round.")
    leaning = vault.page("Leaning", "Topic", dependencies=[short])
    during = [{"time": "2026-03-04"}, {"revision": vault.position}]
    clock.go_to("2026-03-10T12:00:00Z")
    other = vault.page("Other")
    for then in during:
        assert vault.listed(asOf=then) == {page, short, long, leaning}
    ended = ({"time": "2026-03-06"}, {"time": "2026-03-11"}, {"revision": vault.position},
             {"commit": vault.git("rev-parse", "HEAD")})  # fmt: skip
    for then in ended:
        assert vault.listed(asOf=then) - {other} == {page, long}
        found = vault.call("knowledge_search", query="kiwi", asOf=then)["hits"]
        assert [hit["id"] for hit in found] == [long]
        with pytest.raises(NotFound):
            vault.lookup("The kiwi is green.", asOf=then)
    assert vault.listed() == {page, long, other}, "as it is today"


def test_a_deleted_file_stood_until_it_was_deleted(vault: VaultBox, clock: Clock) -> None:
    page = vault.page("Ada")
    claim = vault.claim(page, "The kiwi is green.")
    kept = vault.page("Bob")
    before = [{"time": "2026-03-05"}, {"revision": vault.position}]
    clock.go_to("2026-03-10T12:00:00Z")
    path = vault.path(page)
    content = path.read_bytes()
    path.unlink()
    vault.scan()
    after = [{"time": "2026-03-11"}, {"revision": vault.position}]
    for then in before:
        assert vault.listed(asOf=then) == {page, claim, kept}
        assert vault.lookup("Ada", asOf=then) == page
    for then in after:
        assert vault.listed(asOf=then) == {kept} == vault.listed()
        assert vault.call("knowledge_search", query="kiwi", asOf=then)["hits"] == []
        with pytest.raises(NotFound):
            vault.lookup("Ada", asOf=then)
    path.write_bytes(content)
    vault.scan()
    assert vault.listed(asOf={"revision": vault.position}) == {page, claim, kept}
    assert vault.listed(asOf=after[1]) == {kept}, "it came back only later"


def test_a_merged_page_was_itself_before(vault: VaultBox, clock: Clock) -> None:
    one, other = vault.page("Ada"), vault.page("Ada Lovelace")
    commit = vault.git("rev-parse", "HEAD")
    clock.go_to("2026-03-10T12:00:00Z")
    vault.merge(other, one)
    for then in ({"time": "2026-03-05"}, {"revision": 1}, {"commit": commit}):
        view = vault.get(one, asOf=then)
        assert (view["id"], view["title"], view["followed"]) == (one, "Ada", [])
        assert view["lifecycle"] == "active"
    since = vault.get(one, asOf={"time": "2026-03-11"})
    assert (since["lifecycle"], since["mergedInto"]) == ("merged", other)
    assert vault.get(one)["id"] == other, "today it leads on"


def test_what_was_recorded_later_is_in_no_list_of_then(vault: VaultBox) -> None:
    page = vault.page("Zebulon")
    claim = vault.claim(page, "Zebulon was mayor.", validFrom="2020-01-01", validUntil="2021-01-01")
    then = {"time": "2020-06-01"}
    found = vault.call("knowledge_search", query="Zebulon", asOf=then)
    assert [hit["id"] for hit in found["hits"]] == [claim] and found["total"] == 1
    history = vault.call("knowledge_search", query="Zebulon", asOf=then, lifecycle="historical")
    assert page not in {hit["id"] for hit in history["hits"]}
    assert vault.listed(asOf=then) == {claim}
    with pytest.raises(NotFound):
        vault.lookup("Zebulon", asOf=then)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("records", {}), ("search", {"query": "page"}), ("lookup", {"text": "Page 1"}),
        ("connections", {"id": ""}), ("get", {"id": ""}),
    ],
)  # fmt: skip
def test_reading_the_past_tells_how_far_it_is_and_can_be_taken_back(
    vault: VaultBox, name: str, arguments: dict[str, Any]
) -> None:
    page = vault.page("Page 1")
    person = vault.page("Page 2")
    vault.git("commit", "-q", "--allow-empty", "-m", "By hand.")
    if "id" in arguments:
        arguments = {"id": page}
    then = {"commit": vault.git("rev-parse", "HEAD")}
    told: list[tuple[int, int, str]] = []
    watching = Caller("c", report=lambda *step: told.append(step))
    assert page in json.dumps(vault.call(f"knowledge_{name}", watching, asOf=then, **arguments))
    assert (0, 2, "reading records as they stood") in told and person
    moments = [then] if name == "get" else [then, {"time": "2027-01-01"}, {"revision": 1}]
    for moment in moments:
        with pytest.raises(Cancelled):
            stop = Caller("c", cancelled=lambda: True)
            vault.call(f"knowledge_{name}", stop, asOf=moment, **arguments)
