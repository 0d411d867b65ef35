"""Cypher answers what lists answer, on any graph, for any caller, whatever happens to it."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from tests.operations.builder import ANYBODY, Clock
from tests.operations.conftest import fast_folder
from tests.operations.graph.graphs import Graph
from vault_kg.operations.caller import Caller

GROUPS = ("main", "other")
CALLERS = (ANYBODY, *(Caller(group, partitions=frozenset({group})) for group in GROUPS))
NAMES = st.sampled_from(["Ada", "Bob", "Cy", "Dee 'D' \"q\" \\ $x", "Éa `b` 日本"])
TEXTS = st.sampled_from(["", "Short.", "Two\nlines; DELETE", "x" * 300])


class Agreement(RuleBasedStateMachine):
    """A graph that is changed in every way, and asked both ways after each change."""

    @initialize()
    def begin(self) -> None:
        self.folder: tempfile.TemporaryDirectory[str] = fast_folder()
        self.graph = Graph(Path(self.folder.name) / "vault", Clock())

    @rule(name=NAMES, group=st.sampled_from(GROUPS), summary=TEXTS, person=st.booleans())
    def assert_entity(self, name: str, group: str, summary: str, person: bool) -> None:
        self.graph.entity(name, "Person" if person else "Topic", group, summary=summary)

    @rule(data=st.data(), predicate=st.sampled_from(["knows", "cites"]), fact=TEXTS)
    def assert_edge(self, data: st.DataObject, predicate: str, fact: str) -> None:
        ends = self.pick(data, self.graph.nodes(), 2)
        if len({end["group_id"] for end in ends}) == 1:
            first, last = ends[0], ends[-1]
            self.graph.edge(
                first["name"], predicate, last["name"], first["group_id"],
                source_kind=first["kind"], target_kind=last["kind"], fact=fact or "So it is.",
            )  # fmt: skip

    @rule(data=st.data())
    def point(self, data: st.DataObject) -> None:
        for source in self.pick(data, self.graph.nodes(group_ids=["main"]), 1):
            for target in self.pick(data, self.graph.nodes(group_ids=["other"]), 1):
                self.graph.pointer(source["uuid"], "other", target["name"])

    @rule(data=st.data())
    def claim(self, data: st.DataObject) -> None:
        for owner in self.pick(data, self.graph.nodes(group_ids=["main"]), 1):
            self.graph.claim(owner["uuid"], f"Of {owner['name']}.")

    @rule(data=st.data())
    def withdraw(self, data: st.DataObject) -> None:
        for one in self.pick(data, [*self.graph.nodes(), *self.graph.edges()], 1):
            self.graph.withdraw(one["uuid"])

    @rule(data=st.data())
    def merge(self, data: st.DataObject) -> None:
        pair = self.pick(data, self.graph.nodes(), 2)
        if len({(n["group_id"], n["kind"]) for n in pair}) == 1 and len(pair) == 2:
            self.graph.ask(
                "merge_entities", canonical_uuid=pair[0]["uuid"], alias_uuids=[pair[1]["uuid"]],
                group_id=pair[0]["group_id"],
            )  # fmt: skip

    def pick(self, data: st.DataObject, among: list[dict[str, Any]], most: int) -> list[Any]:
        if not among:
            return []
        by_id = {one["uuid"]: one for one in among}
        chosen = data.draw(st.lists(st.sampled_from(sorted(by_id)), max_size=most, min_size=most))
        return [by_id[uuid] for uuid in dict.fromkeys(chosen)]

    @invariant()
    def both_ways_answer_the_same(self) -> None:
        if hasattr(self, "graph"):
            for caller in CALLERS:
                assert self.nodes(caller) == self.listed_nodes(caller)
                assert self.edges(caller) == self.listed_edges(caller)
                assert self.mentions(caller) == self.listed_mentions(caller)
                assert self.claims(caller) == self.graph.listed(caller, kind="claim")

    def ask(self, caller: Caller, query: str) -> list[list[Any]]:
        answer = self.graph.ask("query_cypher", caller, query=query, limit=10_000)
        return list(answer["rows"])

    def nodes(self, caller: Caller) -> list[Any]:
        rows = self.ask(caller, "MATCH (n:Entity) RETURN n")
        return sorted(
            ({k: v for k, v in n.items() if k != "_label"} | {"attributes": json.loads(n["attributes"])}
             for (n,) in rows),
            key=lambda n: n["uuid"],
        )  # fmt: skip

    def listed_nodes(self, caller: Caller) -> list[Any]:
        fields = ["uuid", "name", "kind", "labels", "group_id", "summary", "aliases", "attributes",
                  "created_at", "updated_at"]  # fmt: skip
        found = self.graph.ask("list_entities", caller, num_results=10_000, fields=fields)["nodes"]
        return sorted(found, key=lambda n: n["uuid"])

    def edges(self, caller: Caller) -> set[tuple[Any, ...]]:
        rows = self.ask(
            caller,
            "MATCH (a:Entity)-[r:RELATES_TO]->(b:Entity) RETURN r.uuid, a.uuid, b.uuid, r.name, "
            "r.fact, r.relation_type, r.group_id, r.valid_at, r.invalid_at, r.episode_uuids",
        )
        return {(*row[:-1], *row[-1]) for row in rows}

    def listed_edges(self, caller: Caller) -> set[tuple[Any, ...]]:
        keys = ("uuid", "source_node_uuid", "target_node_uuid", "name", "fact", "relation_type",
                "group_id", "valid_at", "invalid_at")  # fmt: skip
        found = self.graph.ask("list_relationships", caller, num_results=10_000)["edges"]
        return {(*(e[k] for k in keys), *e["episode_uuids"]) for e in found}

    def mentions(self, caller: Caller) -> set[tuple[str, str]]:
        rows = self.ask(caller, "MATCH (e:Episodic)-[:MENTIONS]->(n:Entity) RETURN e.uuid, n.uuid")
        return {(episode, node) for episode, node in rows}

    def listed_mentions(self, caller: Caller) -> set[tuple[str, str]]:
        found = self.graph.ask("list_entities", caller, num_results=10_000)["nodes"]
        return {(episode, n["uuid"]) for n in found for episode in n["episode_uuids"]}

    def claims(self, caller: Caller) -> set[str]:
        return {uuid for (uuid,) in self.ask(caller, "MATCH (c:Claim) RETURN c.uuid")}

    def teardown(self) -> None:
        if hasattr(self, "graph"):
            self.graph.ws.close()
            self.folder.cleanup()


TestAgreement = Agreement.TestCase
TestAgreement.settings = settings(
    max_examples=12,
    stateful_step_count=12,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
