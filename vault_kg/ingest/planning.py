"""From what a document says to one plan: pages, claims and relationships, and what they replace.

The plan is made under the write lane: names are resolved against the whole partition as it stands
then, and each record is drafted and checked like one that a caller sends. An item that breaks a
rule is told and left out; the rest is written.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from vault_kg.index.catalog import Row
from vault_kg.index.graph_rows import GraphRow
from vault_kg.ingest import report, types
from vault_kg.ingest.drafting import Drafts
from vault_kg.ingest.grounding import Place, Text
from vault_kg.ingest.items import Statement
from vault_kg.ingest.reading import Named, Reading, Said
from vault_kg.ingest.report import DroppedEdge, Ingested
from vault_kg.ingest.resolution import resolve
from vault_kg.ingest.standing import Known, Standing
from vault_kg.operations.graph.finding import kind_of
from vault_kg.records.names import lookup_key, title_key


class Builder:
    """The records of one document, as they are decided on.

    Args:
        drafts: where they are drafted.
        told: what is answered; it grows.
    """

    def __init__(self, drafts: Drafts, told: Ingested) -> None:
        self.drafts, self.told = drafts, told
        self.ws, self.group = drafts.ws, drafts.source.partition
        self.ontology = self.ws.ontology(self.group)
        self.standing = Standing(self.ws, self.group)
        self._known_before: dict[str, Named] = {}
        """What only lines that were read before name: made pages where a new line needs them."""
        self._pages: dict[str, str] = {}
        self._missing: dict[str, str] = {}
        self._kinds: dict[str, str] = {}
        self._hidden: set[str] = set()
        self._said: set[tuple[str | None, ...]] = set()

    def build(self, reading: Reading) -> None:
        """Draft everything that a document says."""
        for named in reading.named:
            if named.is_new:
                self._take_page(named)
            else:
                self._known_before[lookup_key(named.entity.name)] = named
        for said in reading.said:
            self._take_statement(said)

    # Pages

    def _take_page(self, named: Named) -> None:
        entity, place, _ = named
        typed = types.of_entity(self.ontology, entity.type)
        meant = resolve(self.ws, self.group, entity.name, typed.name)
        key = lookup_key(entity.name)
        if meant.why is not None:
            self._missing[key] = meant.why
            listed = self.told.retracted if meant.retracted else self.told.refused
            listed.append(report.of_entity(entity, place, reason=meant.why))
            return
        if meant.row is not None:
            self._use_standing(key, meant.row)
            self.drafts.cite_page(meant.row.id, place)
            self.told.merged.append(report.of_entity(entity, place, uuid=meant.row.id))
            return
        if typed.why is not None:
            self.told.entities_reclassified_unclassified += 1
            self.told.reclassified.append(report.of_entity(entity, place, reason=typed.why))
        drafted = self.drafts.page(
            {
                "type": typed.name,
                "title": entity.name,
                "summary": entity.summary or None,
                "tags": typed.tags or None,
                "evidence": [self.drafts.citation(place)],
            },
            report.of_entity(entity, place, type=typed.name),
        )
        if drafted is None:
            self._missing[key] = "its page was refused"
        else:
            self._use(key, drafted, typed.name)

    def _use(self, key: str, page_id: str, kind: str) -> None:
        self._pages[key] = page_id
        self._kinds[page_id] = kind

    def _use_standing(self, key: str, row: Row) -> None:
        self._use(key, row.id, kind_of(row))
        if not row.current(self.ws.now()):
            self._hidden.add(row.id)

    # Statements

    def _take_statement(self, said: Said) -> None:
        statement, place = said
        ends = [self._end(name) for name in (statement.source, statement.target) if name]
        lost = [end for end in ends if end[0] is None]
        if lost:
            self._drop_edge(statement, ends)
            return
        pages = [page for page, _ in ends if page is not None]
        if len(pages) == 2 and pages[0] == pages[1]:
            self.told.edges_dropped_self_loop += 1
            self.told.self_loops.append(report.of_statement(statement, place))
            return
        if self._is_repeated(statement, pages):
            return
        if statement.target is None:
            self._take_claim(said, pages[0])
        else:
            self._take_relationship(said, pages[0], pages[1])

    def _take_claim(self, said: Said, owner: str) -> None:
        statement, place = said
        typed = types.of_claim(self.ontology, statement.type)
        again = self._read_before(place, typed.name)
        if self._is_known(self.standing.claim(owner, typed.name, said, again), said):
            return
        self._tell_type(typed, statement, place)
        self.drafts.cite_page(owner, place)
        self.drafts.claim(
            self._stated(said, typed)
            | {
                "claim_kind": typed.name, "statement": statement.text, "owner": owner,
                "entities": self._others(statement.text, owner),
            },
            report.of_statement(statement, place, type=typed.name),
        )  # fmt: skip

    def _take_relationship(self, said: Said, source: str, target: str) -> None:
        statement, place = said
        kinds = self._kinds
        typed = types.of_relation(self.ontology, statement, kinds[source], kinds[target])
        if self._is_known(self.standing.relationship(source, target, typed.name, said), said):
            return
        self._tell_type(typed, statement, place)
        for page in (source, target):
            self.drafts.cite_page(page, place)
        self.drafts.relationship(
            self._stated(said, typed)
            | {"type": typed.name, "from": source, "to": target, "fact": statement.text},
            report.of_statement(statement, place, type=typed.name),
        )

    def _stated(self, said: Said, typed: types.Typed) -> dict[str, Any]:
        """Return what claims and relationships have in common."""
        return {
            "evidence": [self.drafts.citation(said.place)], "origin": "source",
            "valid_from": said.statement.valid_from, "valid_until": said.statement.valid_until,
            "tags": typed.tags or None,
        }  # fmt: skip

    def _others(self, text: str, owner: str) -> list[str]:
        """Return the other pages of this document that a statement names."""
        said, words = lookup_key(text), Text(text)
        return sorted(
            {
                page
                for key, page in self._pages.items()
                if page != owner and page not in self._hidden
                if key in said and words.mention(key)
            }
        )

    def _end(self, name: str) -> tuple[str | None, str]:
        """Return the page that an end of a statement is, or None and why there is none."""
        key = lookup_key(name)
        if key in self._known_before:
            self._take_page(self._known_before.pop(key))
        if key not in self._pages and key not in self._missing:
            meant = resolve(self.ws, self.group, name, None)
            if meant.row is not None:
                self._use_standing(key, meant.row)
            else:
                self._missing[key] = meant.why or f"{name!r} is no page"
        page = self._pages.get(key)
        return page, "" if page else self._missing[key]

    def _drop_edge(self, statement: Statement, ends: list[tuple[str | None, str]]) -> None:
        lost = [page is None for page, _ in ends]
        self.told.edges_dropped_unresolvable += 1
        self.told.dropped_edges.append(
            DroppedEdge(
                source_name=statement.source, target_name=statement.target,
                relation_type=statement.type or None, fact=statement.text,
                unresolved_endpoint=(
                    "both" if len(lost) == 2 and all(lost) else "source" if lost[0] else "target"
                ),
                reason="; ".join(why for page, why in ends if page is None),
            )
        )  # fmt: skip

    def _is_repeated(self, statement: Statement, pages: list[str]) -> bool:
        """Say whether the document says it twice; once is enough."""
        kind = statement.type if statement.target else None
        key = (*pages, kind, title_key(statement.text))
        repeated = key in self._said
        self._said.add(key)
        return repeated

    def _is_known(self, known: Known | None, said: Said) -> bool:
        """Say whether a record says it already: one that stands is cited for it, too."""
        if known is None:
            return False
        statement, place = said
        record = known.record.row.id
        if known.state == "retracted":
            reason = f"{record} said so and was {known.record.row.lifecycle}"
            self.told.retracted.append(
                report.of_statement(statement, place, reason=reason, uuid=record)
            )
            return True
        if not any(
            self.drafts.holds(citation) for citation in known.record.stated.get("evidence", ())
        ):
            self.drafts.gain(record, place)
        self.told.merged.append(report.of_statement(statement, place, uuid=record))
        return True

    def _read_before(self, place: Place, kind: str) -> Callable[[GraphRow], bool]:
        """Return the check whether a claim was read out of these words of an earlier edition."""

        def check(each: GraphRow) -> bool:
            return each.row.type == kind and any(
                self.drafts.holds(c)
                and title_key(str(c.get("quote", ""))) == title_key(place.quote)
                for c in each.stated.get("evidence", ())
            )

        return check

    def _tell_type(self, typed: types.Typed, statement: Statement, place: Place) -> None:
        if typed.why is None:
            return
        if statement.target is not None:
            self.told.edges_reclassified_unclassified += 1
        self.told.reclassified.append(report.of_statement(statement, place, reason=typed.why))


def counts(told: Ingested) -> dict[str, Any]:
    """Return the counters that follow from the lists."""
    made = [item.kind for item in told.written]
    merged = [item for item in told.merged if item.kind == "entity"]
    told.dedup_paths.exact_name = len(merged)
    told.dedup_paths.vetoed = len({item.name for item in told.vetoed})
    return {
        "nodes_extracted": made.count("entity") + len(merged),
        "edges_extracted": made.count("relationship"),
        "claims_extracted": made.count("claim"),
        "entities_dropped_malformed": sum(i.kind == "entity" for i in told.malformed),
        "edges_dropped_malformed": sum(i.kind != "entity" for i in told.malformed),
        "dropped_ungrounded": len(told.ungrounded),
    }
