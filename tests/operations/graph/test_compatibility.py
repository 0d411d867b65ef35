"""docs/compatibility.md is complete: each of the seed's methods once, with what differs and why."""

from __future__ import annotations

import re
from pathlib import Path

from vault_kg.operations import registry
from vault_kg.serve import service

PAGE = Path(__file__).parents[3] / "docs" / "compatibility.md"
ROW = re.compile(r"^\| `(\w+)` \| (equal|different) \|(.*)\|$", re.MULTILINE)
OF_THE_SERVICE = {service.HEALTH, service.CLOSE}

SEED = """
health_check knowledge_status knowledge_rebuild_status knowledge_process_chunk knowledge_add_episode
knowledge_assert_entity knowledge_assert_relationship knowledge_find_entities
knowledge_resolve_entity knowledge_find_relationships knowledge_search_passages
knowledge_query_cypher knowledge_get_episodes knowledge_get_nodes_by_group
knowledge_get_edges_by_group knowledge_get_edges_by_uuids knowledge_list_entities
knowledge_list_relationships knowledge_get_entity_neighbors knowledge_get_entities_by_source
knowledge_delete_episode knowledge_delete_by_source knowledge_delete_chunk_episode
knowledge_delete_by_group knowledge_clear_all knowledge_merge_entities
knowledge_validate_corrections knowledge_apply_corrections knowledge_reprocess_entity_types
knowledge_reload_ontology knowledge_canonicalize_relations knowledge_backfill_relation_types
knowledge_reprocess_relation_types knowledge_backfill_summary_embeddings
knowledge_add_cross_group_edge knowledge_rebind_pointers knowledge_dump_wal
knowledge_strip_wal_embeddings knowledge_prepare_checkpoint knowledge_wal_mark_create
knowledge_wal_mark_list knowledge_wal_mark_delete knowledge_rebuild_from_wal
knowledge_build_indices knowledge_recover knowledge_recover_full knowledge_close
""".split()

SCOPES = {
    "read": "status find_entities resolve_entity find_relationships get_episodes get_nodes_by_group "
    "get_edges_by_group get_edges_by_uuids search_passages list_entities list_relationships "
    "get_entity_neighbors get_entities_by_source rebuild_status validate_corrections",
    "write": "process_chunk add_episode delete_episode delete_by_source delete_chunk_episode "
    "apply_corrections merge_entities reprocess_entity_types canonicalize_relations "
    "backfill_relation_types reprocess_relation_types add_cross_group_edge assert_entity "
    "assert_relationship",
    "cypher": "query_cypher",
    "admin": "dump_wal strip_wal_embeddings prepare_checkpoint wal_mark_create wal_mark_list "
    "wal_mark_delete rebuild_from_wal recover recover_full build_indices rebind_pointers "
    "delete_by_group backfill_summary_embeddings reload_ontology clear_all",
}

ROWS = ROW.findall(PAGE.read_text(encoding="utf-8"))


def test_each_method_is_told_once() -> None:
    assert len(SEED) == len(set(SEED)) == 47
    assert [name for name, _, _ in ROWS] == SEED
    assert all(text.strip() for _, status, text in ROWS if status != "equal")


def test_each_method_exists() -> None:
    assert {name for name in SEED if name not in registry.operations()} == OF_THE_SERVICE
    graph = {n for n, o in registry.operations().items() if o.is_in(frozenset({"graph"}))}
    assert graph == set(SEED) - OF_THE_SERVICE


def test_scopes_are_those_of_the_seed_and_clearing_is_for_admins() -> None:
    wanted = {f"knowledge_{n}": scope for scope, names in SCOPES.items() for n in names.split()}
    assert len(wanted) == 45
    assert {name: registry.operations()[name].scope for name in wanted} == wanted
