"""What default reads see: filters before counts and limits, and everything by its exact id."""

from __future__ import annotations

from typing import Any

import pytest

from tests.operations.builder import VaultBox
from vault_kg.errors import Ambiguous, InvalidArgument, NotFound


def family(vault: VaultBox) -> dict[str, str]:
    """A page and one record of every way to stand on it."""
    ada, babbage = vault.page(), vault.page("Babbage")
    claim = vault.claim(ada, "The engine weaves patterns.")
    return {
        "ada": ada, "babbage": babbage, "claim": claim,
        "entity": vault.claim(babbage, "He met the weaver.", entities=[ada]),
        "link": vault.relationship(babbage, ada, fact="They weave together."),
        "dependent": vault.page("Weaving", type="Topic", dependencies=[claim]),
        "second": vault.page("More weaving", type="Topic", dependencies=[claim]),
        "apart": vault.page("Turin weaves", type="Place"),
    }  # fmt: skip


def test_default_reads_exclude_inactive_records_and_whatever_depends_on_them(
    vault: VaultBox,
) -> None:
    ids = family(vault)
    gone = {ids[k] for k in ("ada", "claim", "entity", "link", "dependent", "second")}
    vault.withdraw(ids["ada"])
    assert vault.listed() == {ids["babbage"], ids["apart"]}
    hits = vault.call("knowledge_search", query="weave weaver weaving weaves", mode="text")
    assert {h["id"] for h in hits["hits"]} == {ids["apart"]} and hits["total"] == 1
    edges = vault.call("knowledge_connections", id=ids["babbage"], depth=5)
    assert edges["totalNodes"] == edges["totalEdges"] == 0
    for name in ("Ada", "Weaving", ids["claim"]):
        assert isinstance(vault.refused("knowledge_lookup", text=name), NotFound)
    status = vault.call("knowledge_status")
    assert status["records"] == {"page": 2, "claim": 0, "relationship": 0, "note": 0}
    assert status["history"] == {"active": 7, "superseded": 0, "withdrawn": 1, "merged": 0}
    catalog = vault.call("knowledge_ontology", name="Topic")["items"][0]
    assert catalog["records"] == 0
    assert gone <= vault.listed(lifecycle="all")


def test_filters_come_before_counts_and_limits(vault: VaultBox) -> None:
    pages = [vault.page(f"Page {n}") for n in range(9)]
    for page in pages[::2]:
        vault.withdraw(page)
    seen: list[str] = []
    cursor: dict[str, Any] = {}
    while True:
        answer = vault.call("knowledge_records", limit=3, **cursor)
        assert answer["total"] == 4 and answer["count"] == len(answer["records"])
        seen += [r["id"] for r in answer["records"]]
        if answer["nextCursor"] is None:
            break
        assert answer["count"] == 3, "a page that is not the last is full"
        cursor = {"cursor": answer["nextCursor"]}
    assert sorted(seen) == sorted(pages[1::2])
    hits = vault.call("knowledge_search", query="page", limit=2, mode="text")
    assert hits["total"] == 4 and hits["count"] == 2


def test_exact_reads_always_answer_and_say_why_a_record_is_hidden(vault: VaultBox) -> None:
    ids = family(vault)
    vault.withdraw(ids["ada"])
    for record in ids.values():
        assert vault.get(record)["id"] == record and vault.history(record)
    view = vault.get(ids["dependent"])
    assert view["lifecycle"] == "active" and view["eligible"] is False
    (reason,) = view["reasons"]
    assert reason["record"] == ids["claim"] and "not eligible itself" in reason["message"]
    (reason,) = vault.get(ids["claim"])["reasons"]
    assert reason["record"] == ids["ada"] and "owner" in reason["message"]
    assert "withdrawn" in reason["message"]
    assert vault.get(ids["babbage"])["reasons"] == []


def test_historical_search_includes_superseded_records_never_withdrawn_ones(
    vault: VaultBox,
) -> None:
    ada = vault.page()
    old, gone, both = (vault.claim(ada, f"Zymurgy {n}.") for n in range(3))
    new = vault.correct(old, vault.claim_values(ada, "Zymurgy anew."))["replacementId"]
    vault.correct(both, vault.claim_values(ada, "Other words."))
    vault.withdraw(both)
    vault.withdraw(gone)

    def found(lifecycle: str) -> set[str]:
        hits = vault.call("knowledge_search", query="zymurgy", lifecycle=lifecycle, mode="text")
        return {h["id"] for h in hits["hits"]}

    assert found("current") == {new}
    assert found("historical") == {old, new}
    assert vault.listed(lifecycle="superseded") == {old}
    assert vault.listed(lifecycle="withdrawn") == {gone, both}


def test_a_record_past_its_end_is_hidden_when_the_time_comes_and_not_before(
    vault: VaultBox,
) -> None:
    ada = vault.page()
    until = vault.claim(ada, "Until May.", validUntil="2026-05-01")
    expires = vault.claim(ada, "Expires.", expiresAt="2026-05-01T10:00:00+02:00")
    on_it = vault.page("On it", dependencies=[expires])
    vault.clock.go_to("2026-05-01T07:59:00+00:00")
    assert {until, expires, on_it} <= vault.listed()
    vault.clock.go_to("2026-05-01T08:01:00+00:00")
    assert vault.listed() & {until, expires, on_it} == {until}
    assert [r["code"] for r in vault.get(expires)["reasons"]] == ["is_past"]
    assert "reference_ineligible" in {r["code"] for r in vault.get(on_it)["reasons"]}
    vault.clock.go_to("2026-05-01T23:59:00+00:00")
    assert until in vault.listed()
    vault.clock.go_to("2026-05-02T00:01:00+00:00")
    assert until not in vault.listed()


def test_the_default_answer_is_the_current_fact_and_as_of_answers_the_old_one(
    vault: VaultBox,
) -> None:  # C9
    tool = vault.page("The tool", type="Entity")
    old = vault.claim(tool, "Version 1.", validFrom="2019-01-01", validUntil="2021-06-30")
    new = vault.claim(tool, "Version 2.", validFrom="2021-07-01")
    link = vault.relationship(
        vault.page("A maker"), tool, "created", validFrom="2018-01-01", validUntil="2020-01-01"
    )
    assert vault.listed(kind="claim") == {new}
    then = vault.call("knowledge_records", asOf={"time": "2020-03-01"}, kind="claim")
    assert [r["id"] for r in then["records"]] == [old] and then["total"] == 1
    assert "valid time" in then["asOf"]["meaning"]
    assert vault.listed(kind="claim", asOf={"time": "2021-07-01"}) == {new}
    assert vault.listed(kind="claim", asOf={"time": "2021-06-30"}) == {old}
    assert vault.listed(asOf={"time": "2017-01-01"}) == set()
    assert vault.get(old, asOf={"time": "2020-03-01"})["asOf"]["meaning"] == "valid time"
    edges = vault.call("knowledge_connections", id=tool, asOf={"time": "2019-06-01"})["edges"]
    assert {e["record"] or e["source"] for e in edges} == {link, old}
    vault.withdraw(old)
    assert vault.listed(kind="claim", asOf={"time": "2020-03-01"}) == set()


def test_as_of_a_revision_a_commit_and_a_recorded_time(vault: VaultBox) -> None:
    ada = vault.page(summary="first")
    claim = vault.claim(ada)
    commit, position, time = vault.git("rev-parse", "HEAD"), vault.position, vault.ws.now()
    vault.clock.go_to("2026-04-01T00:00:00+00:00")
    vault.change(ada, summary="second")
    new = vault.correct(claim, vault.claim_values(ada))["replacementId"]
    other = vault.page("Babbage")
    vault.merge(other, ada)
    for moment in ({"commit": commit}, {"revision": position}, {"time": time}):
        assert vault.listed(asOf=moment) == {ada, claim}, moment
        found = vault.call("knowledge_lookup", text="Ada", asOf=moment)
        assert found["record"]["id"] == ada and found["record"]["revision"] == 1
    assert vault.listed() == {new, other}
    assert vault.get(ada, revision=1)["summary"] == "first"
    assert vault.get(ada, revision=2)["summary"] == "second"
    assert vault.get(ada, commit=commit)["revision"] == 1
    assert vault.get(claim, asOf={"time": time})["lifecycle"] == "active"
    for missing in ({"revision": 99}, {"asOf": {"time": "2020-01-01"}}):
        assert isinstance(vault.refused("knowledge_get", id=ada, **missing), NotFound)
    for wrong in ({"time": "soon"}, {"time": "20240501"}, {}, {"time": time, "commit": commit}):
        assert isinstance(vault.refused("knowledge_records", asOf=wrong), InvalidArgument)


def test_a_lookup_answers_from_the_file_as_it_is_now(vault: VaultBox) -> None:
    page = vault.page(summary="before")
    vault.edit(page, "summary: before", "summary: after")
    found = vault.call("knowledge_lookup", text="ada")["record"]
    assert found["summary"] == "after" and found["revision"] == 2
    vault.edit(page, "title: Ada", "title: Augusta")
    assert vault.call("knowledge_lookup", text=page)["record"]["title"] == "Augusta"
    assert vault.lookup("augusta") == page


def test_a_name_that_means_several_records_is_an_error_with_the_candidates(
    vault: VaultBox,
) -> None:
    first, second = vault.page("Ada"), vault.page("Countess", aliases=["ADA"])
    refused = vault.refused("knowledge_lookup", text="ada")
    assert isinstance(refused, Ambiguous) and "2 records" in refused.message
    assert {c["id"] for c in refused.data["candidates"]} == {first, second}
    assert vault.lookup("main/pages/person/ada.md") == first


def test_links_by_title_alias_and_heading_resolve(vault: VaultBox) -> None:  # C7
    ada = vault.page("Ada Lovelace", aliases=["Ada"])
    for number, link in enumerate(
        ["[[Ada]]", "[[Ada Lovelace#Notes|her notes]]", "[[ada lovelace]]", "[[ADA|x]]"]
    ):
        vault.page(f"Linking {number}", type="Topic", body=f"See {link}.")
    assert vault.findings("unresolved_link") == []
    assert vault.get(ada)["backlinks"] == 4
    vault.page("Broken", type="Topic", body="\n\nSee [[Nobody]].")
    (finding,) = vault.findings("unresolved_link")
    assert "Nobody" in finding["message"]
    line = (vault.root / finding["path"]).read_text().splitlines()[finding["line"] - 1]
    assert "[[Nobody]]" in line


def test_an_exact_title_is_found_first_and_order_is_stable(vault: VaultBox) -> None:
    for number in range(5):
        vault.page(f"Engine part {number}", type="Topic", body="engine engine engine")
    exact = vault.page("Engine", type="Topic", body="x")
    answers = [
        [h["id"] for h in vault.call("knowledge_search", query="engine", mode="text")["hits"]]
        for _ in range(2)
    ]
    assert answers[0] == answers[1] and answers[0][0] == exact


@pytest.mark.parametrize("lifecycle", ["current", "ACTIVE", "", "gone"])
def test_an_unknown_lifecycle_is_refused(vault: VaultBox, lifecycle: str) -> None:
    refused = vault.refused("knowledge_records", lifecycle=lifecycle)
    assert isinstance(refused, InvalidArgument) and "lifecycle" in refused.message


def test_a_cursor_belongs_to_its_query(vault: VaultBox) -> None:
    for number in range(3):
        vault.page(f"Page {number}")
    cursor = vault.call("knowledge_records", limit=1)["nextCursor"]
    for wrong in (
        {"cursor": cursor, "kind": "claim"}, {"cursor": "x"}, {"cursor": cursor[:-4]},
        {"cursor": "W10="}, {"cursor": "é"}, {"cursor": "WwWwWwWw" * 200},
    ):  # fmt: skip
        refused = vault.refused("knowledge_records", **wrong)
        assert isinstance(refused, InvalidArgument) and "start again" in refused.message
