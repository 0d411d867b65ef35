"""Typing relationships: by words, by the nearest description, or honestly not at all."""

from __future__ import annotations

import dataclasses

import pytest

from tests.operations.builder import ANYBODY
from tests.operations.graph.graphs import Graph
from vault_kg.errors import Cancelled, InvalidArgument
from vault_kg.operations.graph.relation_rules import Verdict, classify, is_noise
from vault_kg.records.ontology import load_ontology

BUILT_IN = load_ontology(None)
COUNTS = ("total_edges", "mapped_count", "noise_count", "residual_count",
          "embedding_fallback_promoted", "changed_count", "breakdown", "changes")  # fmt: skip


def types(graph: Graph) -> dict[str, str | None]:
    return {e["name"]: e["relation_type"] for e in graph.edges()}


def filled(graph: Graph, *predicates: str) -> None:
    graph.entity("Ada", "Person")
    graph.entity("Bob", "Person")
    for predicate in predicates:
        graph.edge("Ada", predicate, "Bob")


@pytest.mark.parametrize(
    ("predicate", "standing", "verdict"),
    [
        ("knows", None, Verdict("mapped", "knows")),
        ("Friend-Of", None, Verdict("mapped", "knows")),
        ("is a friend and mentor", None, Verdict("mapped", "knows")),
        ("xyz", "knows", Verdict("mapped", "knows")),
        ("xyz", "friend of", Verdict("mapped", "knows")),
        ("friend of", "works_for", Verdict("mapped", "works_for")),
        ("friend of", "unclassified", Verdict("mapped", "knows")),
        ("xyz", "zyx", Verdict("residual")),
        ("mentions", None, Verdict("residual")),
        ("unclassified", None, Verdict("residual")),
        ("Ada Lovelace → Bob", None, Verdict("noise")),
        ("ADA -> BOB", "knows", Verdict("noise")),
        (None, None, Verdict("residual")),
    ],
)  # fmt: skip
def test_words_decide(predicate: str | None, standing: str | None, verdict: Verdict) -> None:
    assert classify(BUILT_IN, predicate, standing) == verdict


def test_only_an_arrow_between_two_names_is_noise() -> None:
    assert is_noise("A -> B") and is_noise("Ada Lovelace→Bob")
    assert not any(map(is_noise, ("->", "a->", "leads to", "", None)))


def test_edges_get_types_of_the_vocabulary_and_a_rehearsal_counts_the_same(graph: Graph) -> None:
    filled(graph, "friend of", "worked with", "Ada -> Bob", "mother of")
    position = graph.position
    plan = graph.ask("canonicalize_relations", group_id="main", dry_run=True)
    assert graph.position == position
    done = graph.ask("canonicalize_relations", group_id="main")
    assert {k: done[k] for k in COUNTS} == {k: plan[k] for k in COUNTS}
    assert graph.position == position + 1
    assert (done["total_edges"], done["mapped_count"], done["noise_count"], done["residual_count"]) == (
        4, 2, 1, 1,
    )  # fmt: skip
    assert types(graph) == {
        "friend of": "knows", "worked with": "UNCLASSIFIED", "Ada -> Bob": "UNCLASSIFIED",
        "mother of": "parent_of",
    }  # fmt: skip
    assert done["breakdown"] == {"UNCLASSIFIED": 2, "knows": 1, "parent_of": 1}
    assert done["embedding_warning"], "meaning took no part, and it is said"
    position = graph.position
    again = graph.ask("canonicalize_relations", group_id="main")
    assert (again["changed_count"], again["changed"], graph.position) == (0, False, position)


def test_a_type_that_does_not_join_the_kinds_is_never_given(graph: Graph) -> None:
    graph.entity("Ada", "Person")
    graph.entity("Engine", "Topic")
    graph.edge("Ada", "married to", "Engine")
    graph.ask("canonicalize_relations", group_id="main")
    assert types(graph) == {"married to": "UNCLASSIFIED"}
    assert graph.findings(section="files") == []


def test_a_type_outside_the_vocabulary_is_replaced_and_its_words_are_kept(graph: Graph) -> None:
    ada, bob = graph.page("Ada"), graph.page("Bob")
    uuid = graph.relationship(ada, bob, "admires_from_afar")
    graph.ask("canonicalize_relations", group_id="main")
    (row,) = graph.edges()
    assert (row["relation_type"], row["name"]) == ("UNCLASSIFIED", "admires_from_afar")
    graph.put("ontology.yaml", "relationship_types:\n  admires: {keywords: [admires]}\n")
    graph.scan()
    graph.ask("canonicalize_relations", group_id="main")
    assert graph.edges()[0]["relation_type"] == "admires" and graph.get(uuid)["revision"] == 3


def test_a_type_that_somebody_gave_is_kept(graph: Graph) -> None:
    filled(graph)
    graph.edge("Ada", "friend of", "Bob", relation_type="parent_of")
    position = graph.position
    done = graph.ask("canonicalize_relations", group_id="main")
    assert (done["mapped_count"], done["changed"], graph.position) == (1, False, position)
    assert types(graph) == {"friend of": "parent_of"}


def test_a_type_that_was_cleared_is_found_again(graph: Graph) -> None:
    filled(graph, "friend of")
    graph.ask("canonicalize_relations", group_id="main")
    graph.edge("Ada", "friend of", "Bob", relation_type=None)
    assert types(graph) == {"friend of": None}
    graph.ask("canonicalize_relations", group_id="main")
    assert types(graph) == {"friend of": "knows"}


def test_a_threshold_that_says_nothing_is_refused(graph: Graph) -> None:
    for threshold in (0, 0.29, 1.1, float("nan"), "high"):
        refused = graph.refusal(
            "canonicalize_relations", group_id="main", embedding_threshold=threshold
        )
        assert isinstance(refused, InvalidArgument)


def test_of_two_that_are_as_near_none_is_chosen(
    graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(graph, "xyz")
    near: dict[str, float] = {}

    def embed(texts: list[str]) -> tuple[object, None]:
        import numpy as np

        return np.array([[near.get(text.partition(":")[0], 0.1)] for text in texts]), None

    monkeypatch.setattr(graph.ws.semantics, "embed_texts", embed)
    near |= {"Ada xyz Bob": 1.0, "knows": 0.9, "parent of": 0.89}
    done = graph.ask("canonicalize_relations", group_id="main", dry_run=True)
    assert (done["embedding_fallback_promoted"], done["residual_count"]) == (0, 1)
    near["parent of"] = 0.8
    done = graph.ask("canonicalize_relations", group_id="main")
    assert (done["embedding_fallback_promoted"], types(graph)) == (1, {"xyz": "knows"})


def test_an_unclassified_edge_stands_in_a_strict_vocabulary(graph: Graph) -> None:
    filled(graph, "worked with")
    graph.put("ontology.yaml", "mode: strict\n")
    graph.scan()
    graph.ask("canonicalize_relations", group_id="main")
    assert types(graph) == {"worked with": "UNCLASSIFIED"}


@pytest.mark.parametrize("name", ["canonicalize_relations", "backfill_relation_types"])
def test_one_group_is_named_and_no_other_is_touched(graph: Graph, name: str) -> None:
    filled(graph, "friend of")
    graph.entity("X", group="other")
    graph.edge("X", "uses", "X", group="other")
    for given in ({}, {"group_id": None}, {"group_id": ""}):
        assert isinstance(graph.refusal(name, **given), InvalidArgument)
    before = {p: b for p, b in graph.files().items() if p.startswith("other/")}
    graph.ask(name, group_id="main")
    assert {p: b for p, b in graph.files().items() if p.startswith("other/")} == before


def test_backfill_makes_types_of_words_and_never_overwrites(graph: Graph) -> None:
    filled(graph, "worked with", "Ada -> Bob")
    graph.edge("Ada", "met", "Bob", relation_type="knows")
    graph.edge("Ada", "Ada -> Bob", "Bob", fact="The specification document defines it.")
    plan = graph.ask("backfill_relation_types", group_id="main", dry_run=True)
    done = graph.ask("backfill_relation_types", group_id="main")
    assert (plan["backfilled"], done["backfilled"], done["total_edges"]) == (2, 2, 3)
    assert types(graph) == {
        "worked with": "worked_with", "Ada -> Bob": "the_specification_document_defines",
        "met": "knows",
    }  # fmt: skip
    graph.put("ontology.yaml", "mode: strict\n")
    assert isinstance(graph.refusal("backfill_relation_types", group_id="main"), InvalidArgument)


def test_it_can_be_taken_back_and_leaves_nothing(graph: Graph) -> None:
    filled(graph, "friend of")
    said = []
    caller = dataclasses.replace(
        ANYBODY, report=lambda *told: said.append(told), cancelled=lambda: len(said) > 0
    )
    refused = graph.refusal("canonicalize_relations", caller, group_id="main")
    assert isinstance(refused, Cancelled) and said[0][2] == "lexical"
