"""A caller of some groups: nothing of the others is told by any read, refusal, count or change.

Two vaults differ in one group only. Whoever does not see that group is answered the same in both.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.operations.builder import Clock
from tests.operations.conftest import fast_folder
from tests.operations.graph.graphs import Graph
from vault_kg.errors import VaultError
from vault_kg.operations import registry
from vault_kg.operations.caller import Caller

SECRET = "secret"
WORD = "Zugzwang"
CALLER = Caller("c", partitions=frozenset({"main", "open"}))
OPERATIONS = registry.operations()
READS = [name for name, found in OPERATIONS.items() if found.read_only]


class Twin(Graph):
    """One of two vaults; ids are known by what they were made for."""

    ids: dict[str, str]


def public(graph: Twin) -> None:
    made = {
        "ada": graph.entity("Ada", "Person", summary="An analyst."),
        "bob": graph.entity("Bob", "Person"),
        "hub": graph.entity("Hub", "Topic", group="open"),
    }
    made["edge"] = graph.edge("Ada", "knows", "Bob", fact="Ada knows Bob.")
    made["pointer"] = graph.pointer(made["ada"], "open", "Hub")["uuid"]
    made["source"] = sorted(graph.episode_ids(group_ids=["main"]))[0]
    made["claim"] = graph.claim(made["ada"], "She wrote.")
    graph.ids = made


def hidden(graph: Twin) -> None:
    """A group that says much of what is public, and points to it."""
    secret = graph.entity("Ada", "Person", group=SECRET, summary=f"{WORD}.")
    graph.entity("Ada", "Topic", group=SECRET)
    graph.entity(WORD, "Person", group=SECRET)
    graph.edge(WORD, "knows", "Ada", group=SECRET, target_kind="Person", fact=f"{WORD}.")
    graph.ask(
        "add_cross_group_edge", name="watches", group_id=SECRET, source={"uuid": secret},
        target={"source_group_id": "main", "endpoint_name": "Ada"}, fact=f"{WORD} watches Ada.",
    )  # fmt: skip
    source = graph.source(f"{WORD} in a source.\n", name="a.md", partition=SECRET)
    graph.claim(
        graph.ids["ada"], f"{WORD} on Ada.", partition=SECRET, evidence=[{"source": source}]
    )
    graph.page(f"{WORD} cites it", partition=SECRET, evidence=[{"source": graph.ids["source"]}])
    graph.withdraw(graph.page(f"{WORD} gone", partition=SECRET))
    graph.ask("wal_mark_create", name=WORD, group_id=SECRET)
    graph.put("corrections.yaml", f"corrections:\n- id: {WORD}\n  type: same_as\n"
              f"  group_id: {SECRET}\n  canonical: Ada\n  aliases: [{WORD}]\n")  # fmt: skip


@pytest.fixture(scope="module")
def twins() -> Iterator[tuple[Twin, Twin]]:
    with pytest.MonkeyPatch.context() as patch, fast_folder() as name:
        patch.setenv("VAULT_KG_EMBEDDING_MODEL", "off")
        boxes = []
        for which in ("whole", "bare"):
            box = Twin(Path(name) / which, Clock())
            public(box)
            boxes.append(box)
        hidden(boxes[0])
        boxes[1].put("corrections.yaml", "corrections: []\n")
        yield boxes[0], boxes[1]
        for box in boxes:
            box.ws.close()


def told(box: Twin, name: str, arguments: dict[str, Any]) -> str:
    """Return what the caller is told, without what differs between any two vaults."""
    try:
        answer = registry.call(box.ws, name, arguments, CALLER)
    except VaultError as error:
        answer = {"refused": error.to_dict()}
    text = json.dumps(answer, ensure_ascii=False, sort_keys=True)
    for key, uuid in box.ids.items():
        text = text.replace(uuid, f"<{key}>")
    text = text.replace(str(box.root), "ROOT").replace(box.ws.vault.id, "VAULT")
    text = re.sub(r"\b(re|pg|cl|sr)_[0-9a-z]{26}\b", r"\1", text)
    text = re.sub(r'"(commit|hash|sha256|path)": "[^"]*"', r'"\1": ""', text)
    text = re.sub(r'"(bm25_score|rrf_score|position|scannedAt|last_index_time)": [^,}]+', "", text)
    return re.sub(r'"(next_cursor|nextCursor)": "[^"]*"', "", text)


def cases(name: str, ids: dict[str, str]) -> list[dict[str, Any]]:
    """Return many ways to ask a read of the graph family."""
    groups: list[dict[str, Any]] = [
        {}, {"group_ids": [SECRET]}, {"group_ids": ["main", SECRET, "open"]}, {"group_ids": []},
    ]  # fmt: skip
    queries = [{"query": q} for q in (WORD, "Ada", "knows", "watches near")]
    base: dict[str, list[dict[str, Any]]] = {
        "knowledge_list_entities": [{}, {"include_inactive": True}, {"name_prefix": WORD[:3]},
                                    {"kind": "Topic"}, {"num_results": 1}],
        "knowledge_get_nodes_by_group": [{}, {"include_inactive": True}],
        "knowledge_list_relationships": [{}, {"include_inactive": True}, {"name_prefix": "w"}],
        "knowledge_get_edges_by_group": [{}, {"include_inactive": True}],
        "knowledge_find_entities": [*queries, {"query": WORD, "include_inactive": True}],
        "knowledge_find_relationships": [*queries, {"query": WORD, "include_inactive": True}],
        "knowledge_search_passages": [*queries, {"query": WORD, "include_inactive": True}],
        "knowledge_get_episodes": [{}, {"name_prefix": "a"}, {"group_id": SECRET}],
        "knowledge_get_entities_by_source": [{"source": s} for s in ("a.md", "assertion.json")],
        "knowledge_get_entity_neighbors": [
            {"entity_uuid": ids["ada"]}, {"entity_uuid": ids["ada"], "include_inactive": True},
        ],
    }  # fmt: skip
    if name in base:
        return [case | group for case in base[name] for group in groups]
    return {
        "knowledge_resolve_entity": [
            {"name": n, "group_id": g} for n in ("Ada", WORD) for g in ("main", SECRET)
        ],
        "knowledge_get_edges_by_uuids": [{"uuids": [ids["edge"], ids["pointer"]]}],
        "knowledge_status": [{}], "knowledge_validate_corrections": [{}],
        "knowledge_rebuild_status": [{"job_id": "x"}],
        "knowledge_query_cypher": [{"query": q} for q in CYPHER],
    }[name]  # fmt: skip


CYPHER = [
    "MATCH (n:Entity) RETURN n ORDER BY n.name, n.kind",
    "MATCH (n) RETURN labels(n) AS l, count(*) ORDER BY l",
    "MATCH (a)-[r]->(b) RETURN a.name, r, b.name ORDER BY a.name, b.name, r.name",
    f"MATCH (n) WHERE n.name CONTAINS '{WORD}' OR n.group_id = '{SECRET}' RETURN n",
    "CALL show_tables() RETURN name ORDER BY name",
]  # fmt: skip

GRAPH_READS = [
    name for name in READS if OPERATIONS[name].toolset == "graph" or name == "knowledge_status"
]


@pytest.mark.parametrize("name", GRAPH_READS)
def test_a_read_tells_nothing_of_a_group_that_its_caller_does_not_see(
    twins: tuple[Twin, Twin], name: str
) -> None:
    whole, bare = twins
    asked = 0
    for arguments, same in zip(cases(name, whole.ids), cases(name, bare.ids), strict=True):
        with whole.nothing_changes():
            answer = told(whole, name, arguments)
        assert answer == told(bare, name, same), arguments
        assert WORD not in answer.replace(json.dumps(arguments.get("name", "")), ""), arguments
        asked += 1
    assert asked > 0


RECORDS_READS: dict[str, list[dict[str, Any]]] = {
    "knowledge_records": [{}, {"lifecycle": "all"}, {"kind": "relationship"}],
    "knowledge_search": [{"query": WORD}, {"query": "Ada"}],
    "knowledge_diagnostics": [{}],
    "knowledge_activity": [{}],
    "knowledge_sources": [{}],
    "knowledge_shelves": [{}],
    "knowledge_browse": [{}, {"text": WORD}],
}


@pytest.mark.parametrize("name", [name for name in RECORDS_READS if name in OPERATIONS])
def test_what_the_graph_family_writes_is_hidden_from_the_records_family_too(
    twins: tuple[Twin, Twin], name: str
) -> None:
    whole, _ = twins
    for arguments in RECORDS_READS[name]:
        answer = json.dumps(registry.call(whole.ws, name, arguments, CALLER), ensure_ascii=False)
        assert WORD not in answer and f'"{SECRET}' not in answer, arguments


REFUSED: list[tuple[str, dict[str, Any]]] = [
    ("knowledge_assert_entity", {"name": "x", "group_id": "G"}),
    ("knowledge_assert_relationship",
     {"source_name": "Ada", "target_name": WORD, "predicate": "p", "group_id": "G"}),
    ("knowledge_merge_entities",
     {"canonical_name": "Ada", "alias_names": [WORD], "group_id": "G", "dry_run": True}),
    ("knowledge_canonicalize_relations", {"group_id": "G", "dry_run": True}),
    ("knowledge_backfill_relation_types", {"group_id": "G", "dry_run": True}),
    ("knowledge_backfill_summary_embeddings", {"group_id": "G", "dry_run": True}),
    ("knowledge_reload_ontology", {"group_id": "G"}),
    ("knowledge_rebind_pointers", {"source_group_id": "G"}),
    ("knowledge_delete_by_group", {"group_ids": ["G"], "dry_run": True}),
    ("knowledge_delete_by_source", {"source_file": "a.md", "group_ids": ["G"], "dry_run": True}),
    ("knowledge_delete_chunk_episode", {"chunk_id": "a.md", "group_ids": ["G"], "dry_run": True}),
    ("knowledge_wal_mark_list", {"group_id": "G"}),
    ("knowledge_wal_mark_create", {"name": "m", "group_id": "G"}),
    ("knowledge_wal_mark_delete", {"name": WORD, "group_id": "G"}),
    ("knowledge_add_episode", {"name": "x", "episode_body": "x", "group_id": "G"}),
    ("knowledge_rebuild_from_wal", {"group_id": "G"}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "arguments"), REFUSED, ids=[n for n, _ in REFUSED])
def test_a_hidden_group_is_answered_like_one_that_does_not_exist(
    twins: tuple[Twin, Twin], name: str, arguments: dict[str, Any]
) -> None:
    whole, _ = twins
    answers = set()
    for group in (SECRET, "nowhere"):
        given = json.loads(json.dumps(arguments).replace('"G"', f'"{group}"'))
        answers.add(told(whole, name, given).replace(group, "G"))
    assert len(answers) == 1, answers


HIDDEN_IDS: list[tuple[str, dict[str, Any]]] = [
    ("knowledge_get_entity_neighbors", {"entity_uuid": "page"}),
    ("knowledge_get_edges_by_uuids", {"uuids": ["edge"]}),
    ("knowledge_assert_entity", {"name": "x", "entity_uuid": "page"}),
    ("knowledge_delete_episode", {"episode_uuid": "source", "dry_run": True}),
    ("knowledge_merge_entities",
     {"canonical_name": "Ada", "alias_uuids": ["page"], "dry_run": True}),
    ("knowledge_merge_entities",
     {"canonical_uuid": "page", "alias_names": ["Bob"], "dry_run": True}),
    ("knowledge_add_cross_group_edge",
     {"name": "x", "fact": "x", "source": {"uuid": "page"}, "target": {"uuid": "page"}}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "arguments"), HIDDEN_IDS)
def test_a_hidden_id_is_answered_like_one_that_does_not_exist(
    twins: tuple[Twin, Twin], name: str, arguments: dict[str, Any]
) -> None:
    whole, _ = twins
    nodes = whole.nodes(group_ids=[SECRET])
    real = {
        "page": nodes[0]["uuid"], "edge": whole.edges(group_ids=[SECRET])[0]["uuid"],
        "source": sorted(whole.episode_ids(group_ids=[SECRET]))[0],
    }  # fmt: skip
    none = {"page": "pg_" + "0" * 26, "edge": "re_" + "0" * 26, "source": "sr_" + "0" * 26}
    answers = set()
    for ids in (real, none):
        text = json.dumps(arguments)
        for key, uuid in ids.items():
            text = text.replace(f'"{key}"', f'"{uuid}"')
        text = text.replace(f'"{ids["source"]}":', '"source":')
        answers.add(told(whole, name, json.loads(text)))
    assert len(answers) == 1, answers


def test_deleting_what_a_hidden_record_cites_tells_nothing_of_it(twins: tuple[Twin, Twin]) -> None:
    answers = {
        told(box, "knowledge_delete_episode", {"episode_uuid": box.ids["source"], "dry_run": True})
        for box in twins
    }
    assert len(answers) == 1 and WORD not in answers.pop()
