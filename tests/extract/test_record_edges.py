"""Records in the graph: the six reserved edges with their rules, touches, and what is missing."""

from __future__ import annotations

from typing import Any

import pytest

from tests.extract.coded import Coded, function, labels
from tests.operations.builder import Clock
from vault_kg.extract import uids
from vault_kg.operations.caller import Caller


def edges(coded: Coded, *kinds: str) -> set[tuple[str, str, str, str]]:
    """Return (source, kind, target, rule) of the edges of records, by label."""
    rows = {row.key: row for row in coded.reader.every_node()}
    return {
        (rows[e.id.source].node.label, e.id.kind, rows[e.id.target].node.label, signal.name)
        for e in coded.reader.every_edge()
        if e.id.extractor == "records" and (not kinds or e.id.kind in kinds)
        for signal in e.signals
    }


def missing(coded: Coded, caller: Caller | None = None) -> list[str]:
    data = coded.ask("graph_doctor", *([caller] if caller else []))
    found = [i for i in data["issues"] if i["category"] == "missing_links"]
    return found[0]["sample"] if found else []


def test_fields_become_the_reserved_edges(coded: Coded) -> None:
    box = coded.box
    service = box.page("Service", "Entity")
    other = {"belongs_to": service}
    box.page("Fast", "Criterion", fields=other)
    requirement = box.page("Search", "Requirement", fields=other)
    limit = box.page("Limit", "Constraint", fields=other)
    box.page("Try it", "TestScenario", fields=other | {"criteria": ["[[Fast]]"]})
    box.page("API", "APIContract", fields=other | {"requirements": [requirement, limit]})
    box.page("Chosen", "Decision", fields=other | {"requirements": [requirement]})
    box.page("Slow", "Bug", fields=other | {"constraints": [limit]})
    coded.index()
    assert edges(coded, "tests", "implements", "derives_from", "violates") == {
        ("Try it", "tests", "Fast", "tests/criteria@1"),
        ("API", "implements", "Search", "implements/requirements@1"),
        ("API", "implements", "Limit", "implements/requirements@1"),
        ("Chosen", "derives_from", "Search", "derives_from/requirements@1"),
        ("Slow", "violates", "Limit", "violates/constraints@1"),
    }
    owned = {source for source, _, target, _ in edges(coded, "belongs_to") if target == "Service"}
    assert owned == {"Fast", "Search", "Limit", "Try it", "API", "Chosen", "Slow"}
    assert missing(coded) == []


def test_links_and_entities_become_mentions(coded: Coded) -> None:
    box = coded.box
    ada = box.page("Ada", "Person")
    engine = box.page("Engine", "Topic", body="Ada wrote of it: [[Ada]], again [[ada]].")
    box.page("Chosen", "Decision", body="By [[Ada]].")
    box.claim(ada, "She knew [[Engine]].", entities=[engine])
    coded.index()
    found = edges(coded, "mentions", "belongs_to")
    assert found >= {
        ("Engine", "mentions", "Ada", "mentions/link@1"),
        ("Chosen", "mentions", "Ada", "mentions/link@1"),
    }
    claim = {edge[1:] for edge in found if edge[0] not in ("Engine", "Chosen")}
    assert claim == {
        ("belongs_to", "Ada", "belongs_to/owner@1"), ("mentions", "Engine", "mentions/entities@1"),
        ("mentions", "Engine", "mentions/link@1"),
    }  # fmt: skip


def test_a_link_that_should_be_there_is_a_finding(coded: Coded) -> None:
    box = coded.box
    box.page("Try it", "TestScenario", fields={"belongs_to": "[[Nowhere]]"})
    ada = box.page("Ada", "Person")
    box.page("API", "APIContract", fields={"belongs_to": ada, "requirements": [ada]})
    coded.index()
    found = " ".join(missing(coded))
    assert "no_criterion: Try it" in found and "[[Nowhere]] is no page" in found
    assert "wrong_endpoint: API" in found and not edges(coded, "implements")


def test_a_page_touches_what_it_names_and_back(coded: Coded) -> None:
    coded.put(pkg__store="def load; def save", other="def save")
    box = coded.box
    box.page("Loading", "Topic", touches=["pkg/store.tiny::load", "other.tiny", "pkg", "load"])
    box.page("Test", "TestScenario", fields={"code_path": [function("pkg/store", "load")]})
    coded.index()
    assert edges(coded, "touches") == {
        ("Loading", "touches", "load", "touches/symbol@1"),
        ("Loading", "touches", "load", "touches/name@1"),
        ("Loading", "touches", "other.tiny", "touches/path@1"),
        ("Loading", "touches", "pkg", "touches/path@1"),
        ("Test", "touches", "load", "touches/uid@1"),
    }
    data = coded.ask("graph_references", uid="pkg/store.tiny::load", kinds="touches")
    assert {n["label"] for n in data["sources"]} == {"Loading", "Test"}
    reached = coded.ask("graph_impact", uid="pkg/store.tiny::load")["should_review"]["items"]
    assert {r["node"]["label"] for r in reached} == {"Loading", "Test"}


def test_what_is_touched_follows_the_tree(coded: Coded) -> None:
    coded.put(a="def load")
    coded.box.page("Loading", "Topic", touches=["a.tiny::load", "save"])
    coded.index()
    assert "touches_nothing" in missing(coded)[0] and "save" in missing(coded)[0]
    coded.put(a="def other", b="def save; def x", c="def save")
    coded.index()
    assert not edges(coded, "touches")
    found = " ".join(missing(coded))
    assert "a.tiny::load, which no root" in found and "save, which may be 2 things" in found
    assert coded.ask("graph_doctor")["healthy"]
    coded.put(a="def load", c="def y")
    coded.index()
    assert {edge[2] for edge in edges(coded, "touches")} == {"load", "save"}
    assert missing(coded) == []


def test_records_follow_the_vault_without_indexing_files_anew(coded: Coded) -> None:
    box = coded.box
    page = box.page("Ada", "Person")
    coded.index()
    assert coded.ask("graph_context", uid=uids.record(page))["node"]["label"] == "Ada"
    box.change(page, title="Ada Lovelace")
    coded.index(paths=[])
    assert coded.ask("graph_context", uid=uids.record(page))["node"]["label"] == "Ada Lovelace"
    other = box.page("Countess", "Person")
    box.merge(page, other)
    box.page("Note", "Topic", body="[[Countess]]")
    coded.index(paths=[])
    assert ("Note", "mentions", "Ada Lovelace", "mentions/link@1") in edges(coded)
    box.withdraw(page)
    coded.index(paths=[])
    assert coded.ask("graph_context", uid=uids.record(page))["node"] is None


def made(coded: Coded, *, hidden: bool) -> None:
    box = coded.box
    coded.put(a="def load")
    box.page("Chosen", "Decision", body="See [[Secretary]] and [[Ada]].", touches=["load"],
             fields={"belongs_to": "[[Secretary]]"})  # fmt: skip
    box.page("Ada", "Person")
    if hidden:
        box.page("Secretary", "Person", partition="secret", body="[[Chosen]]", touches=["load"])
        box.page("Ada", "Person", partition="secret")
        box.page("Bad", "TestScenario", partition="secret")
    coded.index()


@pytest.mark.parametrize("hidden", [False, True])
def test_another_partition_changes_nothing_that_is_seen(coded: Coded, hidden: bool) -> None:
    made(coded, hidden=hidden)
    caller = Caller("public", partitions=frozenset({"main"}))
    found = [f.partition(" ")[2] for f in missing(coded, caller)]
    assert found == [
        "unresolved: Chosen: belongs_to: [[Secretary]] is no page of this partition; "
        "write the page, or mend the name"
    ]
    data: dict[str, Any] = coded.ask("graph_references", caller, uid="load")
    assert [n["label"] for n in data["sources"]] == ["Chosen"] and data["total"] == 1
    context = coded.ask("graph_context", caller, uid=data["sources"][0]["uid"])
    assert {(g["direction"], g["kind"], g["total"]) for g in context["groups"]} == {
        ("out", "touches", 1), ("out", "mentions", 1),
    }  # fmt: skip


def told(coded: Coded, name: str) -> set[str]:
    """Return the labels of what refers to a node."""
    return {n["label"] for n in coded.ask("graph_references", uid=name)["sources"]}


def test_what_is_withdrawn_is_in_no_answer_from_then_on(coded: Coded) -> None:
    coded.put(a="def load")
    box = coded.box
    page = box.page("Loading", "Topic", touches=["load"])
    box.page("Saving", "Topic", touches=["load"], body="[[Loading]]")
    coded.index()
    assert told(coded, "load") == {"Loading", "Saving"}
    box.withdraw(page)
    assert told(coded, "load") == {"Saving"}
    assert coded.ask("graph_context", uid=uids.record(page))["node"] is None
    assert labels(coded.ask("graph_resolve", q="Loading")["results"]) == ["Saving"]
    assert labels(coded.ask("graph_search", query="Loading")["results"]) == ["Saving"]
    reached = coded.ask("graph_impact", uid="load")["should_review"]
    assert labels(reached["items"]) == ["Saving"] and reached["total"] == 1
    saving = coded.ask("graph_context", uid="Saving")
    assert {group["kind"] for group in saving["groups"]} == {"touches"}
    assert "Loading" not in coded.ask("graph_export", format="mermaid")["text"]
    assert coded.ask("graph_doctor")["healthy"]
    coded.index(paths=[])
    assert told(coded, "load") == {"Saving"}


def test_what_a_withdrawn_page_lacks_is_told_no_more(coded: Coded) -> None:
    page = coded.box.page("Loading", "Topic", touches=["nowhere/gone.py"])
    coded.index()
    assert "Loading" in missing(coded)[0]
    coded.box.withdraw(page)
    assert missing(coded) == []


def test_what_was_superseded_or_has_expired_is_in_no_answer_from_then_on(
    coded: Coded, clock: Clock
) -> None:
    box = coded.box
    ada = box.page("Ada", "Person")
    engine = box.page("Engine", "Topic")
    claim = box.claim(ada, "She wrote of the engine.", entities=[engine])
    passing = box.claim(ada, "She writes.", entities=[engine], expiresAt="2030-01-01")
    coded.index()

    def mentioning() -> set[str]:
        found = coded.ask("graph_references", uid=uids.record(engine))["sources"]
        return {each["uid"] for each in found}

    assert mentioning() == {uids.record(claim), uids.record(passing)}
    box.correct(claim, box.claim_values(ada, "She did not."))
    assert mentioning() == {uids.record(passing)}
    clock.go_to("2030-02-01T12:00:00+00:00")
    assert mentioning() == set()


def test_what_stands_in_two_partitions_is_there_for_who_sees_both(coded: Coded) -> None:
    box = coded.box
    here = box.page("Ada", "Person")
    there = box.page("Engine", "Topic", partition="secret")
    claim = box.claim(there, "It was hers.", entities=[here])
    coded.index()

    def node(*partitions: str) -> Any:
        caller = Caller("public", partitions=frozenset(partitions))
        return coded.ask("graph_context", caller, uid=uids.record(claim))["node"]

    assert node("main") is None and node("main", "secret") is not None
