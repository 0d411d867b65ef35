"""Deleting episodes: what only they supported is withdrawn and listed, everything else stays."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from tests.operations.builder import ANYBODY
from tests.operations.graph.graphs import Graph
from vault_kg.errors import Cancelled, InvalidArgument, NotFound

COUNTED = ("deleted_uuids", "withdrawn", "updated", "kept", "foreign_citations")


def told(answer: dict[str, Any]) -> dict[str, Any]:
    return {key: answer[key] for key in COUNTED}


def ids(items: list[dict[str, Any]]) -> set[str]:
    return {item["uuid"] for item in items}


def test_what_only_it_supported_is_withdrawn_in_one_entry_and_listed(graph: Graph) -> None:
    ada, bob = graph.page("Ada"), graph.page("Bob")
    one = graph.source("One.\n", name="one.txt")
    two = graph.source("Two.\n", name="two.txt")
    alone = graph.claim(ada, "Alone.", evidence=[{"source": one}])
    edge = graph.relationship(ada, bob, fact="Alone too.", evidence=[{"source": one}])
    both = graph.claim(ada, "Both.", evidence=[{"source": one}, {"source": two, "lines": "1"}])
    other = graph.claim(ada, "Other.", evidence=[{"source": two}])
    untouched = graph.path(other).read_bytes()
    folder, position = graph.root / "main/sources", graph.position

    plan = graph.ask("delete_episode", episode_uuid=one, dry_run=True)
    assert (plan["dry_run"], plan["changed"], graph.position) == (True, False, position)
    done = graph.ask("delete_episode", episode_uuid=one, reason="a wrong scan")
    assert told(done) == told(plan) and done["status"] == "deleted"
    assert graph.position == position + 1
    assert done["deleted_uuids"] == [one] and ids(done["withdrawn"]) == {alone, edge}
    assert (done["withdrawn_count"], done["updated_count"]) == (2, 1)
    assert ids(done["updated"]) == {both}
    assert graph.listed() == {ada, bob, both, other}
    assert [e["source"] for e in graph.get(both)["evidence"]] == [two]
    assert graph.path(other).read_bytes() == untouched
    view = graph.get(alone)
    assert view["lifecycle"] == "withdrawn"
    assert view["lifecycleChange"]["reason"] == "a wrong scan"
    assert one not in graph.episode_ids() and not any(folder.rglob("one.txt"))
    assert len(list(folder.iterdir())) == len(graph.episode_ids()), "no empty folder is left"
    assert graph.findings(section="files") == [] and graph.findings(section="missing") == []
    assert b"One." in graph.git("show", f"HEAD~1:main/sources/{sha(graph, one)}/one.txt").encode()


def sha(graph: Graph, source: str) -> str:
    listed = graph.git("ls-tree", "-r", "--name-only", "HEAD~1", "--", "main/sources")
    return next(line.split("/")[2] for line in listed.splitlines() if line.endswith("one.txt"))


def test_nothing_comes_back_by_a_file_or_the_same_source(graph: Graph) -> None:
    ada, one = graph.page("Ada"), graph.source("One.\n", name="one.txt")
    claim = graph.claim(ada, evidence=[{"source": one}])
    old, path = graph.path(claim).read_bytes(), graph.path(claim)
    graph.ask("delete_episode", episode_uuid=one)
    path.write_bytes(old)
    assert graph.source("One.\n", name="one.txt") == one
    graph.scan()
    assert claim not in graph.listed() and graph.findings("guard_contradicted")


def test_an_asserted_entity_goes_with_its_last_assertion(graph: Graph) -> None:
    ada, bob = graph.entity("Ada", "Person"), graph.entity("Bob", "Person")
    edge = graph.edge("Ada", "met", "Bob")
    (source,) = graph.edges()[0]["episode_uuids"]
    (first,) = graph.get(ada)["evidence"]
    done = graph.ask("delete_episode", episode_uuid=first["source"])
    assert ids(done["kept"]) == {ada} and "stands on it" in done["kept"][0]["why"]
    done = graph.ask("delete_episode", episode_uuid=source)
    assert ids(done["withdrawn"]) == {edge} and graph.names() == {"Ada", "Bob"}
    (second,) = graph.get(bob)["evidence"]
    done = graph.ask("delete_episode", episode_uuid=second["source"])
    assert ids(done["withdrawn"]) == {bob} and graph.names() == {"Ada"}


def test_a_page_that_a_person_edited_stays(graph: Graph) -> None:
    one = graph.source("One.\n")
    page = graph.page("Ada", evidence=[{"source": one}], body="Text.")
    graph.edit(page, "Text.", "By hand.")
    graph.scan()
    done = graph.ask("delete_episode", episode_uuid=one)
    assert ids(done["kept"]) == {page} and "edited" in done["kept"][0]["why"]
    assert graph.get(page)["body"] == "By hand." and page in graph.listed()


def test_pages_that_stand_only_on_each_other_go_together(graph: Graph) -> None:
    one = graph.source("One.\n")
    ada = graph.page("Ada", evidence=[{"source": one}])
    bob = graph.page("Bob", evidence=[{"source": one}], dependencies=[ada])
    claim = graph.claim(bob, entities=[ada], evidence=[{"source": one}])
    done = graph.ask("delete_episode", episode_uuid=one)
    assert ids(done["withdrawn"]) == {ada, bob, claim}


def test_a_merged_page_can_still_be_taken_out(graph: Graph) -> None:
    one, two = graph.source("One.\n", name="1"), graph.source("Two.\n", name="2")
    ada = graph.page("Ada", evidence=[{"source": two}])
    alias = graph.page("Countess", evidence=[{"source": one}])
    graph.merge(ada, alias)
    graph.ask("delete_episode", episode_uuid=one)
    graph.unmerge(alias)
    assert {ada, alias} <= graph.listed() and graph.findings(section="files") == []


def test_by_source_the_file_name_is_exact_and_the_groups_are_named(graph: Graph) -> None:
    mine = graph.source("A.\n", name="a.md")
    other = graph.source("BA.\n", name="ba.md")
    theirs = graph.source("A.\n", name="a.md", partition="other")
    untouched = {p: b for p, b in graph.files().items() if p.startswith("other/")}
    done = graph.ask("delete_by_source", source_file="a.md", group_ids=["main"])
    assert (done["success"], done["deleted_count"], done["deleted_uuids"]) == (True, 1, [mine])
    assert graph.episode_ids() == {other, theirs}
    assert {p: b for p, b in graph.files().items() if p.startswith("other/")} == untouched
    again = graph.ask("delete_by_source", source_file="a.md", group_ids=["main", "nowhere"])
    assert (again["success"], again["deleted_count"], again["changed"]) == (True, 0, False)


def test_a_chunk_is_named_by_its_episode(graph: Graph) -> None:
    one = graph.source("A.\n", name="notes-0001")
    graph.source("B.\n", name="notes-00012")
    done = graph.ask("delete_chunk_episode", chunk_id="notes-0001", group_ids='["main"]')
    assert done["deleted_uuids"] == [one] and len(graph.episode_ids()) == 1


@pytest.mark.parametrize("name", ["delete_by_source", "delete_chunk_episode"])
@pytest.mark.parametrize(
    "groups", [{}, {"group_ids": None}, {"group_ids": []}, {"group_ids": "[]"}]
)
def test_without_groups_nothing_is_ever_deleted(
    graph: Graph, name: str, groups: dict[str, Any]
) -> None:
    graph.source("A.\n", name="a.md")
    key = "source_file" if name == "delete_by_source" else "chunk_id"
    refused = graph.refusal(name, **{key: "a.md"}, **groups)
    assert isinstance(refused, InvalidArgument) and "group_ids" in refused.message


def test_it_tells_how_far_it_is_and_can_be_taken_back(graph: Graph) -> None:
    page, one = graph.page("Ada"), graph.source("One.\n")
    for number in range(3):
        graph.claim(page, f"Claim {number}.", evidence=[{"source": one}])
    said: list[tuple[int, int, str]] = []
    caller = dataclasses.replace(ANYBODY, report=lambda *told: said.append(told))
    graph.ask("delete_episode", caller, episode_uuid=one, dry_run=True)
    assert said == [(0, 3, "withdrawing")]
    gone = dataclasses.replace(ANYBODY, cancelled=lambda: True)
    assert isinstance(graph.refusal("delete_episode", gone, episode_uuid=one), Cancelled)


def test_a_large_one_tells_each_phase_and_can_be_taken_back_until_it_is_accepted(
    graph: Graph,
) -> None:
    page, one = graph.page("Ada"), graph.source("One.\n")
    for number in range(60):
        graph.claim(page, f"Claim {number}.", evidence=[{"source": one}])
    position = graph.position
    said: list[str] = []
    late = dataclasses.replace(
        ANYBODY,
        report=lambda done, total, what: said.append(what),
        cancelled=lambda: "writing files" in said,
    )
    done = graph.ask("delete_episode", late, episode_uuid=one)
    assert (done["withdrawn_count"], graph.position) == (60, position + 1)
    assert list(dict.fromkeys(said)) == [
        "withdrawing",
        "writing files",
        "placing files",
        "indexing",
    ]


def test_an_unknown_episode_is_an_error(graph: Graph) -> None:
    page = graph.page("Ada")
    for uuid in ("zz", page, "sr_" + "0" * 26):
        assert isinstance(graph.refusal("delete_episode", episode_uuid=uuid), NotFound)


def test_a_record_of_another_group_that_cites_it_is_left_alone_and_counted(graph: Graph) -> None:
    one = graph.source("One.\n")
    elsewhere = graph.page("Ada", partition="other", evidence=[{"source": one}])
    before = graph.path(elsewhere).read_bytes()
    done = graph.ask("delete_episode", episode_uuid=one)
    assert done["foreign_citations"] == 1 and graph.path(elsewhere).read_bytes() == before
