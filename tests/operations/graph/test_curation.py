"""Merging entities: all or none, counted as rehearsed, and taken back whole."""

from __future__ import annotations

from typing import Any

from tests.operations.graph.graphs import Graph
from vault_kg.errors import Ambiguous, InvalidArgument, LifecycleRefused, NotFound

COUNTS = ("merged_count", "skipped", "edges_rewritten", "edges_deduplicated", "self_loops_collapsed",
          "foreign_edges_skipped", "added", "conflicts", "errors", "canonical_uuid")  # fmt: skip


def counted(answer: dict[str, Any]) -> dict[str, Any]:
    return {key: answer[key] for key in COUNTS}


def databases(graph: Graph) -> dict[str, str]:
    """Two spellings of one thing, a third, and what is said of them."""
    made = {
        name: graph.entity(name, summary=summary)
        for name, summary in (("PostgreSQL", None), ("Postgres", "A database."), ("PG", None))
    } | {"App": graph.entity("App")}  # fmt: skip
    facts = [
        ("App", "uses", "PostgreSQL", "The app uses it."),
        ("App", "uses", "Postgres", "The app uses it."),
        ("App", "uses", "PG", "The app has a pool."),
        ("Postgres", "is short for", "PostgreSQL", "A short name."),
    ]
    for number, (source, predicate, target, fact) in enumerate(facts):
        made[f"edge{number}"] = graph.edge(source, predicate, target, fact=fact)
    return made


def test_a_dry_run_counts_what_is_then_done(graph: Graph) -> None:
    made = databases(graph)
    asked = {"canonical_name": "postgresql", "alias_names": ["Postgres", "PG"]}
    position = graph.position
    with graph.nothing_changes():
        plan = graph.ask("merge_entities", **asked, dry_run=True)
    done = graph.ask("merge_entities", **asked, reason="the user says so")
    assert counted(done) == counted(plan) and graph.position == position + 1
    assert counted(done) | {"added": None} == {
        "canonical_uuid": made["PostgreSQL"], "merged_count": 2, "skipped": 0,
        "edges_rewritten": 1, "edges_deduplicated": 1, "self_loops_collapsed": 1,
        "foreign_edges_skipped": 0, "added": None, "conflicts": [], "errors": [],
    }  # fmt: skip
    assert {a["name"]: a["active_edges"] for a in plan["plan"]["aliases"]} == {
        "Postgres": 2,
        "PG": 1,
    }
    assert plan["plan"]["total_edges_collapsed"] == 2 and done["plan"] is None
    assert graph.names() == {"PostgreSQL", "App"}
    node = graph.ask("resolve_entity", name="pg")["node"]
    assert node["uuid"] == made["PostgreSQL"] and node["summary"] == "A database."
    assert set(node["aliases"]) == {"Postgres", "PG"}


def test_duplicates_and_self_loops_are_hidden_and_no_evidence_is_lost(graph: Graph) -> None:
    made = databases(graph)
    sources = {e["uuid"]: e["episode_uuids"] for e in graph.edges()}
    graph.ask("merge_entities", canonical_name="PostgreSQL", alias_names=["Postgres"])
    edges = {e["uuid"]: e for e in graph.edges()}
    assert set(edges) == {made["edge0"], made["edge2"]}
    assert set(edges[made["edge0"]]["episode_uuids"]) == {
        *sources[made["edge0"]], *sources[made["edge1"]],
    }  # fmt: skip
    found = graph.ask("find_relationships", query="app uses short")
    assert {e["uuid"] for e in found["edges"]} <= set(edges)
    reasons = graph.get(made["edge3"])["reasons"]
    assert [r["code"] for r in reasons] == ["is_collapsed"]
    everything = graph.edge_ids(include_inactive=True)
    assert {made["edge1"], made["edge3"]} <= everything


def test_an_unmerge_takes_everything_back(graph: Graph) -> None:
    made = databases(graph)
    before = {e["uuid"]: e for e in graph.edges()}
    files = {p: b for p, b in graph.files().items() if "/relationships/" in p}
    graph.ask("merge_entities", canonical_name="PostgreSQL", alias_names=["Postgres", "PG"])
    assert {p: b for p, b in graph.files().items() if "/relationships/" in p} == files
    for name in ("PG", "Postgres"):
        graph.unmerge(made[name])
    assert {e["uuid"]: e for e in graph.edges()} == before
    for name in ("PostgreSQL", "Postgres", "PG"):
        assert graph.ask("resolve_entity", name=name)["node"]["uuid"] == made[name]
    assert graph.get(made["PostgreSQL"])["aliases"] == []
    assert graph.get(made["PostgreSQL"])["summary"] is None


def test_one_of_several_merges_can_be_taken_back(graph: Graph) -> None:
    made = databases(graph)
    graph.ask("merge_entities", canonical_name="PostgreSQL", alias_names=["Postgres", "PG"])
    graph.unmerge(made["Postgres"])
    view = graph.get(made["PostgreSQL"])
    assert (view["aliases"], view["summary"]) == (["PG"], None)
    assert {made["edge0"], made["edge1"], made["edge2"], made["edge3"]} == graph.edge_ids()


def test_the_same_again_skips(graph: Graph) -> None:
    made = databases(graph)
    asked = {
        "canonical_uuid": made["PostgreSQL"], "alias_uuids": [made["PG"]], "alias_names": ["Postgres"],
    }  # fmt: skip
    graph.ask("merge_entities", **asked)
    position = graph.position
    again = graph.ask("merge_entities", **asked)
    assert (again["merged_count"], again["skipped"], again["changed"]) == (0, 2, False)
    assert graph.position == position


def test_all_by_name_is_of_one_kind(graph: Graph) -> None:
    pages = [graph.page("Ada"), graph.page("ADA"), graph.page("Ada", type="Topic")]
    refused = graph.refusal("merge_entities", canonical_name="Ada", merge_all_by_name=True)
    assert isinstance(refused, Ambiguous) and refused.data["reason"] == "ambiguous_entity"
    done = graph.ask("merge_entities", canonical_name="ada", kind="Person", merge_all_by_name=True)
    assert (done["canonical_uuid"], done["merged_count"]) == (pages[0], 1), "the oldest stays"
    assert {n["uuid"] for n in graph.nodes()} == {pages[0], pages[2]}


def test_kinds_are_never_crossed(graph: Graph) -> None:
    person, topic = graph.entity("Ada", "Person"), graph.entity("Adah", "Topic")
    for more in ({}, {"dry_run": True}):
        refused = graph.refusal(
            "merge_entities", canonical_uuid=person, alias_uuids=[topic], **more
        )
        assert isinstance(refused, InvalidArgument) and "Topic" in refused.message


def test_one_unknown_alias_refuses_them_all(graph: Graph) -> None:
    made = databases(graph)
    elsewhere = graph.entity("PG", group="other")
    refused = graph.refusal(
        "merge_entities", canonical_name="PostgreSQL", alias_names=["Postgres", "Nope"],
        alias_uuids=[elsewhere, "zz"],
    )  # fmt: skip
    assert isinstance(refused, NotFound)
    assert set(refused.data["unknown"]) == {"Nope", "zz", elsewhere}
    graph.withdraw(made["PG"])
    refused = graph.refusal(
        "merge_entities", canonical_name="PostgreSQL", alias_uuids=[made["Postgres"], made["PG"]]
    )
    assert isinstance(refused, LifecycleRefused)
    refused = graph.refusal(
        "merge_entities", canonical_uuid=made["PG"], alias_uuids=[made["Postgres"]]
    )
    assert isinstance(refused, LifecycleRefused)


def test_both_sides_must_be_named(graph: Graph) -> None:
    graph.entity("Ada")
    for given in ({}, {"canonical_name": "Ada"}, {"alias_names": ["Ada"]},
                  {"canonical_name": "Ada", "alias_names": []}):  # fmt: skip
        assert isinstance(graph.refusal("merge_entities", **given), InvalidArgument)


def test_other_groups_stay_byte_for_byte(graph: Graph) -> None:
    databases(graph)
    hub = graph.entity("Hub", group="hub")
    graph.ask(
        "add_cross_group_edge", name="knows", group_id="hub", source={"uuid": hub},
        target={"source_group_id": "main", "endpoint_name": "Postgres"}, fact="It knows.",
    )  # fmt: skip
    before = {p: b for p, b in graph.files().items() if p.startswith("hub/")}
    done = graph.ask("merge_entities", canonical_name="PostgreSQL", alias_names=["Postgres"])
    assert done["foreign_edges_skipped"] == 1
    assert {p: b for p, b in graph.files().items() if p.startswith("hub/")} == before
    (edge,) = graph.edges(group_ids=["hub"])
    assert edge["target_node_uuid"] == done["canonical_uuid"], "it means the survivor all the same"


def test_mentions_mean_the_survivor(graph: Graph) -> None:
    made = databases(graph)
    claim = graph.claim(made["Postgres"], "It is fast.")
    graph.ask("merge_entities", canonical_name="PostgreSQL", alias_names=["Postgres"])
    assert graph.get(claim)["owner"] == made["PostgreSQL"] and claim in graph.listed()
    sources = set(graph.node(made["PostgreSQL"])["episode_uuids"])
    assert {e["source"] for e in graph.get(claim)["evidence"]} <= sources


def test_two_facts_between_the_same_pair_stay_two(graph: Graph) -> None:
    for name in ("A", "B", "Alias"):
        graph.entity(name)
    one = graph.edge("A", "uses", "B", fact="Since spring.")
    two = graph.edge("A", "uses", "Alias", fact="Since autumn.")
    done = graph.ask("merge_entities", canonical_name="B", alias_names=["Alias"])
    assert done["edges_deduplicated"] == 0 and graph.edge_ids() == {one, two}


def test_a_merge_of_the_records_family_collapses_too(graph: Graph) -> None:
    made = databases(graph)
    receipt = graph.merge(made["PostgreSQL"], made["Postgres"])
    assert any("hidden while the merge stands" in w for w in receipt["warnings"])
    assert graph.edge_ids() == {made["edge0"], made["edge2"]}


def test_a_recovered_vault_knows_what_was_collapsed(graph: Graph) -> None:
    made = databases(graph)
    graph.ask("merge_entities", canonical_name="PostgreSQL", alias_names=["Postgres", "PG"])
    before = graph.edges()
    graph.ws.close()
    for path in (graph.root / ".vault-kg").glob("state.sqlite*"):
        path.unlink()
    from vault_kg.operations import care

    care.recover(graph.root)
    graph.reopen()
    graph.scan()
    assert graph.edges() == before
    graph.unmerge(made["PG"])
    graph.unmerge(made["Postgres"])
    assert len(graph.edges()) == 4
