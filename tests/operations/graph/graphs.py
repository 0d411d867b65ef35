"""A small graph for tests: the vault of the records family, with the graph family's short words."""

from __future__ import annotations

from typing import Any

import pytest

from tests.operations.builder import ANYBODY, VaultBox
from vault_kg.errors import VaultError
from vault_kg.operations.caller import Caller


class Graph(VaultBox):
    """A vault whose graph operations are asked in short words."""

    def ask(self, name: str, caller: Caller = ANYBODY, /, **arguments: Any) -> dict[str, Any]:
        return self.call(f"knowledge_{name}", caller, **arguments)

    def refusal(self, name: str, caller: Caller = ANYBODY, /, **arguments: Any) -> VaultError:
        """Ask what must be refused; returns the refusal, and holds that nothing was written."""
        before = self.position, self.files()
        with pytest.raises(VaultError) as caught:
            self.ask(name, caller, **arguments)
        assert (self.position, self.files()) == before, "a refusal writes nothing"
        return caught.value

    def entity(self, name: str, kind: str | None = None, group: str = "main", **more: Any) -> str:
        of_kind = {"kind": kind} if kind else {}
        done = self.ask("assert_entity", name=name, group_id=group, **of_kind, **more)
        return str(done["entity_uuid"])

    def edge(
        self, source: str, predicate: str, target: str, group: str = "main", **more: Any
    ) -> str:
        done = self.ask(
            "assert_relationship", source_name=source, predicate=predicate, target_name=target,
            group_id=group, **more,
        )  # fmt: skip
        return str(done["edge_uuid"])

    def pointer(self, source: str, group: str, called: str, /, **more: Any) -> dict[str, Any]:
        """Add an edge from an entity of main to one that another group has by name."""
        return self.ask(
            "add_cross_group_edge",
            **{
                "name": "relates to", "source": {"uuid": source}, "fact": "They relate.",
                "target": {"source_group_id": group, "endpoint_name": called},
            } | more,
        )  # fmt: skip

    def node(self, uuid: str) -> dict[str, Any]:
        found = [n for n in self.nodes(include_inactive=True) if n["uuid"] == uuid]
        assert found, f"no node {uuid}"
        return found[0]

    def nodes(self, **more: Any) -> list[dict[str, Any]]:
        return list(self.ask("list_entities", num_results=10_000, **more)["nodes"])

    def names(self, **more: Any) -> set[str]:
        return {n["name"] for n in self.nodes(**more)}

    def edges(self, **more: Any) -> list[dict[str, Any]]:
        return list(self.ask("list_relationships", num_results=10_000, **more)["edges"])

    def edge_ids(self, **more: Any) -> set[str]:
        return {e["uuid"] for e in self.edges(**more)}

    def episode_ids(self, **more: Any) -> set[str]:
        fields = ["uuid"]
        found = self.ask("get_episodes", last_n=10_000, fields=fields, **more)["episodes"]
        return {e["uuid"] for e in found}

    def paged(self, name: str, key: str, size: int, **arguments: Any) -> list[list[str]]:
        """Page through a list; returns the uuids of each page."""
        limit = "last_n" if name == "get_episodes" else "num_results"
        cursor: str | None = ""
        pages = []
        while cursor is not None:
            answer = self.ask(name, **arguments, **{limit: size}, cursor=cursor)
            assert answer["count"] == len(answer[key]) <= size
            pages.append([item["uuid"] for item in answer[key]])
            cursor = answer["next_cursor"]
        return pages
