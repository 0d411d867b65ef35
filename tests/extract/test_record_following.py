"""Records that the graph followed change by change are those that it makes anew, and cost as little."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.extract.coded import Coded, function
from tests.operations.builder import ANYBODY, Clock
from vault_kg.errors import VaultError
from vault_kg.extract import opening, record_refresh, updating
from vault_kg.extract.backends.protocol import GraphBackend
from vault_kg.extract.backends.sqlite import SqliteBackend
from vault_kg.index import row_log
from vault_kg.state.database import Database

NAMES = ["Ada", "Engine", "Notes on it", "store", "TCP/IP"]
LINKS = [*NAMES, "main/pages/person/ada", "store.md", "nowhere"]
TYPES = ["Person", "Topic", "TestScenario", "Criterion", "Requirement", "Entity"]
OWNED = ("TestScenario", "Criterion", "Requirement")
CODE = ["load", "save", "run"]
TOUCHES = ["load", "save()", "pkg/a.tiny", "pkg/a.tiny::load", "pkg", "deep/down", "b.tiny:3",
           function("pkg/a", "load"), "folder:deep", "no/such.tiny"]  # fmt: skip
PARTITIONS = ["main", "main", "secret"]


def dump(graph: GraphBackend) -> tuple[list[Any], list[Any], list[Any]]:
    """Everything that a graph says of records, without its own numbers."""
    reader = graph.reader(None)
    rows = {row.key: row for row in reader.every_node()}
    nodes = [(row.node, row.partition) for row in rows.values() if row.root == "records"]
    edges = [
        (rows[edge.id.source].node.uid, rows[edge.id.target].node.uid, *edge[0][2:], *edge[1:])
        for edge in reader.every_edge()
        if edge.id.extractor == "records"
    ]
    return sorted(nodes, key=str), sorted(edges, key=str), reader.findings()


def made_anew(coded: Coded, copy: Path) -> tuple[list[Any], list[Any], list[Any]]:
    """What the same trees and the same vault give when everything is worked out."""
    copy.unlink(missing_ok=True)
    followed = opening.backend(coded.box.ws)
    followed.database.execute("VACUUM INTO ?", (str(copy),))
    fresh = SqliteBackend(copy)
    try:
        record_refresh.refresh(coded.box.ws, fresh, anew=True)
        return dump(fresh)
    finally:
        fresh.close()


class Hands:
    """Somebody who changes a vault in every way that there is, at random."""

    def __init__(self, coded: Coded, clock: Clock, seed: int) -> None:
        self.coded, self.box, self.clock = coded, coded.box, clock
        self.chance = random.Random(seed)
        self.pages: list[str] = []
        self.types: dict[str, str] = {}
        self.others: list[str] = []
        self.merged: list[str] = []
        self.claims: list[str] = []
        often = [self.page, self.edit, self.claim, self.code]
        sometimes = [
            self.relationship,
            self.merge,
            self.unmerge,
            self.correct,
            self.move,
            self.note,
        ]
        rarely = [self.withdraw, self.remove, self.copy, self.spoil, self.later, self.vocabulary]
        self.hands: list[Callable[[], object]] = [*often * 4, *sometimes * 2, *rarely]

    def begin(self) -> None:
        for _ in range(8):
            self.page()
        self.coded.index()

    def act(self) -> None:
        for _ in range(self.chance.randint(1, 3)):
            with contextlib.suppress(VaultError, LookupError, ValueError):
                self.chance.choice(self.hands)()

    def said(self, type: str) -> dict[str, Any]:
        chance = self.chance
        links = " ".join(f"[[{chance.choice(LINKS)}]]" for _ in range(chance.randint(0, 3)))
        fields: dict[str, Any] = {}
        named = chance.choice([f"[[{chance.choice(NAMES)}]]", *self.pages[-3:]])
        if type in OWNED and chance.random() < 0.7:
            fields["belongs_to"] = named
        if type == "TestScenario" and chance.random() < 0.7:
            fields["criteria"] = [named]
        if type == "TestScenario" and chance.random() < 0.5:
            fields["code_path"] = [chance.choice(TOUCHES)]
        touches = chance.sample(TOUCHES, chance.randint(0, 2))
        return {"body": f"Of {links}.", "fields": fields, "touches": touches}

    def page(self) -> None:
        type = self.chance.choice(TYPES)
        made = self.box.page(
            self.chance.choice(NAMES), type, partition=self.chance.choice(PARTITIONS),
            aliases=self.chance.sample(NAMES, self.chance.randint(0, 1)), **self.said(type),
        )  # fmt: skip
        self.pages.append(made)
        self.types[made] = type

    def edit(self) -> None:
        page = self.chance.choice(self.pages)
        title = {"title": self.chance.choice(NAMES)}
        self.box.change(
            page, **(self.said(self.types[page]) if self.chance.random() < 0.5 else title)
        )

    def claim(self) -> None:
        page = self.chance.choice(self.pages)
        until = {"expiresAt": f"2026-{self.chance.randint(4, 9):02}-01"}
        made = self.box.claim(
            page, f"It is {self.chance.random()} of [[{self.chance.choice(LINKS)}]].",
            entities=self.chance.sample(self.pages, min(2, len(self.pages))),
            **(until if self.chance.random() < 0.3 else {}),
        )  # fmt: skip
        self.claims.append(made)

    def relationship(self) -> None:
        ends = self.chance.sample(self.pages, 2)
        fact = f"They met {self.chance.random()}."
        self.others.append(self.box.relationship(*ends, type="related_to", fact=fact))

    def merge(self) -> None:
        survivor, absorbed = self.chance.sample(self.pages, 2)
        self.box.merge(survivor, absorbed)
        self.merged.append(absorbed)

    def unmerge(self) -> None:
        page = self.merged.pop()
        self.box.write("knowledge_unmerge", **self.box.fence(page), reason="it was another")

    def withdraw(self) -> None:
        self.box.withdraw(self.chance.choice(self.pages + self.claims + self.others))

    def correct(self) -> None:
        claim = self.chance.choice(self.claims)
        values = self.box.claim_values(
            self.chance.choice(self.pages), f"No: {self.chance.random()}"
        )
        self.claims.append(str(self.box.correct(claim, values)["targetId"]))

    def file(self, records: list[str]) -> Path:
        wanted = f"\nid: {self.chance.choice(records)}\n".encode()
        every = sorted(self.box.root.rglob("*.md"))
        return [path for path in every if wanted in path.read_bytes()][0]  # noqa: RUF015 - LookupError

    def move(self) -> None:
        before = self.file(self.pages)
        after = self.box.root / self.chance.choice(["main/else", "secret/pages"]) / before.name
        after.parent.mkdir(parents=True, exist_ok=True)
        before.rename(after)
        self.box.ws.scan()

    def remove(self) -> None:
        self.file(self.pages + self.claims + self.others).unlink()
        self.box.ws.scan()

    def copy(self) -> None:
        before = self.file(self.pages)
        before.with_name(f"copy-{self.chance.randint(1, 3)}.md").write_bytes(before.read_bytes())
        self.box.ws.scan()

    def spoil(self) -> None:
        before = self.file(self.pages)
        before.write_text(before.read_text().replace("---\n", "---\n[", 1))
        self.box.ws.scan()

    def note(self) -> None:
        name = self.chance.choice(["Ada.md", "store.md", "Engine.md"])
        path = self.box.root / self.chance.choice(PARTITIONS) / "notes" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            path.unlink()
        else:
            path.write_text(f"# {self.chance.choice(NAMES)}\n")
        self.box.ws.scan()

    def code(self) -> None:
        stem = self.chance.choice(["pkg__a", "b", "deep__down__c"])
        path = self.coded.project / (stem.replace("__", "/") + ".tiny")
        if path.exists() and self.chance.random() < 0.4:
            path.unlink()
        else:
            names = self.chance.sample(CODE, self.chance.randint(0, 3))
            self.coded.put(**{stem: "; ".join(f"def {name}" for name in names)})

    def later(self) -> None:
        if self.clock.at.month < 10:
            self.clock.at = self.clock.at.replace(month=self.clock.at.month + 1)

    def vocabulary(self) -> None:
        file = self.box.root / "ontology.yaml"
        file.write_text(f"page_types: {{Extra{self.chance.randint(1, 3)}: {{}}}}\n")
        self.box.ws.scan()


@pytest.mark.parametrize("seed", range(8))
def test_what_was_followed_is_what_is_made_anew(
    coded: Coded, clock: Clock, tmp_path: Path, seed: int
) -> None:
    hands = Hands(coded, clock, seed)
    hands.begin()
    for step in range(25):
        hands.act()
        coded.index(**({"paths": []} if hands.chance.random() < 0.3 else {}))
        found = dump(opening.backend(coded.box.ws))
        for one, other in zip(found, made_anew(coded, tmp_path / "copy.sqlite"), strict=True):
            assert [each for each in one if each not in other] == [], f"step {step}"
            assert [each for each in other if each not in one] == [], f"step {step}"
            assert one == other, f"step {step}"


def test_the_random_changes_reach_what_they_are_to_try(coded: Coded, clock: Clock) -> None:
    hands = Hands(coded, clock, 1)
    hands.begin()
    kinds, codes = set(), set()
    for _ in range(40):
        hands.act()
        coded.index()
        _, edges, findings = dump(opening.backend(coded.box.ws))
        kinds |= {signal.name for edge in edges for signal in edge[-2]}
        codes |= {finding.code for finding in findings}
    assert kinds >= {"belongs_to/owner@1", "mentions/entities@1", "mentions/link@1",
                     "belongs_to/field@1", "touches/path@1", "touches/name@1"}  # fmt: skip
    assert codes >= {"unresolved", "touches_nothing", "no_criterion"}


def worked_out(coded: Coded, change: Callable[[], object]) -> int:
    """How many records are worked out anew after a change."""
    coded.index(paths=[])
    change()
    return record_refresh.refresh(coded.box.ws, opening.backend(coded.box.ws))


def test_a_change_costs_what_it_changes_and_what_refers_to_it(coded: Coded) -> None:
    box = coded.box
    coded.put(a="def load", b="def save")
    ada = box.page("Ada", "Person")
    claims = [box.claim(ada, f"Number {n}.") for n in range(3)]
    box.page("Engine", "Topic", body="By [[Ada]].", touches=["load"])
    alone = [box.page(f"Page {n}", "Topic", touches=["a.tiny"]) for n in range(20)]
    coded.index()
    assert worked_out(coded, lambda: None) == 0
    assert worked_out(coded, lambda: box.change(alone[0], body="Other.")) == 1
    assert worked_out(coded, lambda: box.change(ada, body="Other.")) == len([ada, *claims]) + 1
    assert worked_out(coded, lambda: box.change(alone[1], title="Somebody")) == 1
    assert (
        worked_out(coded, lambda: (box.root / "main/x.md").write_text("x") and box.ws.scan()) == 0
    )


def test_what_is_touched_costs_what_touches_it(coded: Coded) -> None:
    coded.put(a="def load", b="def save")
    for number in range(20):
        coded.box.page(f"Page {number}", "Topic", touches=["b.tiny"])
    page = coded.box.page("Loading", "Topic", touches=["a.tiny::load"])
    coded.index()
    graph = opening.backend(coded.box.ws)
    coded.put(a="def other")
    updating._run(coded.box.ws, ANYBODY, coded.root).everything()
    assert record_refresh.refresh(coded.box.ws, graph) == 1
    assert [finding.subject for finding in graph.reader(None).findings()] == [f"record:{page}"]


def test_a_folder_that_is_touched_comes_and_goes(coded: Coded) -> None:
    coded.box.page("Packages", "Topic", touches=["deep/down"])
    coded.index()

    def told() -> tuple[int, list[str]]:
        _, edges, findings = dump(opening.backend(coded.box.ws))
        return len(edges), [finding.code for finding in findings]

    assert told() == (0, ["touches_nothing"])
    coded.put(deep__down__below__a="def load", b="def save")
    coded.index()
    assert told() == (1, [])
    (coded.project / "deep/down/below/a.tiny").unlink()
    coded.index()
    assert told() == (0, ["touches_nothing"])


def test_what_has_expired_leaves_with_the_next_look(coded: Coded, clock: Clock) -> None:
    ada = coded.box.page("Ada", "Person")
    coded.box.claim(ada, "She writes.", expiresAt="2026-05-01")
    coded.index()
    assert len(dump(opening.backend(coded.box.ws))[0]) == 2
    clock.go_to("2026-06-01T00:00:00+00:00")
    coded.index(paths=[])
    assert len(dump(opening.backend(coded.box.ws))[0]) == 1


def test_another_history_of_changes_tells_nothing(coded: Coded) -> None:
    db, first = coded.box.ws.database, coded.box.page("Ada", "Person")
    at = row_log.mark(db)
    assert changed(db, at) == set()
    coded.box.change(first, title="Bob")
    assert changed(db, at) == {first} and row_log.mark(db) != at
    assert row_log.Mark.of_text(at.as_text()) == at
    with db.write():
        row_log.drop(db)
        row_log.ensure(db)
    assert changed(db, at) is None and changed(db, row_log.Mark.of_text("")) is None
    assert changed(db, row_log.mark(db)) == set()


def changed(db: Database, since: row_log.Mark) -> set[str] | None:
    found = row_log.since(db, since)
    return found.ids if found is not None else None


def test_what_names_a_merged_page_follows_the_page_that_it_was_merged_into(
    coded: Coded, tmp_path: Path
) -> None:
    box = coded.box
    fast, quick = box.page("Fast", "Criterion"), box.page("Quick", "Criterion")
    scenario = box.page("Timed", "TestScenario", fields={"criteria": [quick]})
    box.merge(fast, quick)
    coded.index()

    def named() -> list[str]:
        _, edges, _ = dump(opening.backend(box.ws))
        return [target for source, target, *_ in edges if source == f"record:{scenario}"]

    assert named() == [f"record:{fast}"]
    there = box.root / "secret/pages/criterion/fast.md"
    there.parent.mkdir(parents=True)
    box.path(fast).rename(there)
    box.ws.scan()
    coded.index()
    assert dump(opening.backend(box.ws)) == made_anew(coded, tmp_path / "anew.sqlite")
