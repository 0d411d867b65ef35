"""Any sequence of operations, edits, crashes and repeats leaves the vault as a simple model says."""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, note, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.operations.builder import ANYBODY, VaultBox
from tests.operations.conftest import fast_folder
from tests.operations.lifecycle_model import MAX_HOPS, Expectation, Expected
from vault_kg.errors import Ambiguous, LifecycleRefused, MissingFile, StaleRevision
from vault_kg.operations import care, registry
from vault_kg.operations.workspace import Workspace
from vault_kg.state import journal as rows
from vault_kg.store import failpoints

PICK = st.integers(0, 1_000_000)
POINTS = [p for p in failpoints.POINTS if not p.startswith("conflict.") and p != "git.after"]
DERIVED = (
    "SELECT path, id, kind, partition, type, title, title_key, summary, revision, hash, lifecycle, "
    "recorded_at, updated_at, owner, from_id, to_id, successor, valid, eligible, eligible_until "
    "FROM record ORDER BY path",
    "SELECT path, name, source FROM name JOIN record USING (key) ORDER BY 1, 2, 3",
    "SELECT path, via, target FROM edge JOIN record USING (key) ORDER BY 1, 2, 3",
    "SELECT path, phase, ordinal, code, line, severity, message, hint FROM finding ORDER BY 1, 2, 3",
    "SELECT path, passage.ordinal, heading, start_line, end_line, text FROM passage "
    "JOIN record ON record.key = passage.record ORDER BY 1, 2",
    "SELECT path, hash, kind FROM file ORDER BY path",
    "SELECT id, descriptor FROM source ORDER BY id",
)


class Lifecycle(RuleBasedStateMachine):
    """The vault and the model, side by side."""

    def __init__(self) -> None:
        super().__init__()
        self._folder = fast_folder()
        self.box = VaultBox(Path(self._folder.name) / "vault")
        self.model = Expectation()
        self.answered: list[tuple[str, dict[str, Any], dict[str, Any]]] = []
        self.model.files = {}
        self.numbers = 0

    @initialize(merged=st.integers(0, 3), correct=st.booleans())
    def first_records(self, merged: int, correct: bool) -> None:
        """Begin with records that stand on each other, and perhaps with a chain of merges."""
        _ = self.box.evidence
        self.model.files = self.box.files()
        pages = [self.page(title, ()) for title in ("Ada", "Babbage", "Ada", "Countess")]
        claims = [self.claim(page, [other]) for page, other in pairwise(pages)]
        self.relationship(pages[0], pages[2])
        self.page("On a claim", (claims[0].id,))
        if correct:
            self.correct_one(claims[1], pages[3].id)
        for absorbed, survivor in list(pairwise(pages))[:merged]:
            self.merge_two(survivor, absorbed)

    def teardown(self) -> None:
        try:
            if self.model.records:
                self.derived_tables_rebuilt()
                self.one_commit_for_each_entry_with_files()
        finally:
            self.box.ws.close()
            self._folder.cleanup()

    # Choosing

    def pick(self, number: int, *, among: list[Expected]) -> Expected | None:
        return among[number % len(among)] if among else None

    def pages(self, *, eligible: bool = True) -> list[Expected]:
        seen = self.model.eligible()
        return [
            r for r in self.model.records.values()
            if r.kind == "page" and r.editable and (r.id in seen or not eligible)
        ]  # fmt: skip

    def with_a_file(self) -> list[Expected]:
        return [r for r in self.model.records.values() if r.editable]

    def text(self) -> str:
        self.numbers += 1
        return f"Text {self.numbers}."

    # Operations

    def operate(self, name: str, **arguments: Any) -> dict[str, Any]:
        arguments = {"requestId": self.box.new_request(), **arguments}
        receipt = self.box.call(name, **arguments)
        self.answered.append((name, arguments, receipt))
        return receipt

    def created(self, record_id: str, kind: str) -> Expected:
        path = str(self.box.path(record_id).relative_to(self.box.root).as_posix())
        record = Expected(record_id, kind, path, (self.box.root / path).read_bytes())
        self.model.add(record)
        self.model.files[path] = record.content
        return record

    def rewritten(self, *records: Expected) -> None:
        """Take over the bytes that an operation gave its own records."""
        for record in records:
            assert record.path is not None
            content = (self.box.root / record.path).read_bytes()
            if content != record.content:
                self.model.saved(record, content)
                self.model.files[record.path] = content

    def page(self, title: str, dependencies: tuple[str, ...]) -> Expected:
        receipt = self.operate(
            "knowledge_save_page", type="Person", title=title, dependencies=list(dependencies),
            body=self.text(), aliases=[f"alias {len(self.model.records)}"], tags=[title.lower()],
        )  # fmt: skip
        return self.created(receipt["targetId"], "page")

    def claim(self, owner: Expected, entities: list[Expected]) -> Expected:
        receipt = self.operate(
            "knowledge_save_claim", claimKind="fact", statement=self.text(), owner=owner.id,
            evidence=self.box.evidence, entities=[page.id for page in entities],
        )  # fmt: skip
        return self.created(receipt["targetId"], "claim")

    def relationship(self, first: Expected, second: Expected) -> Expected:
        receipt = self.operate(
            "knowledge_save_relationship", type="knows", fact=self.text(),
            evidence=self.box.evidence, **{"from": first.id, "to": second.id},
        )  # fmt: skip
        return self.created(receipt["targetId"], "relationship")

    @rule(kind=st.sampled_from(["page", "claim", "claim", "relationship"]), first=PICK, second=PICK)
    def create(self, kind: str, first: int, second: int) -> None:
        pages, seen = self.pages(), sorted(self.model.eligible())
        if kind == "page" or not pages:
            title = ["Ada", "Babbage", "CON", "東京"][first % 4]
            self.page(title, (seen[second % len(seen)],) if seen and second % 2 else ())
            return
        one, two = pages[first % len(pages)], pages[second % len(pages)]
        if kind == "claim":
            self.claim(one, [two] if second % 3 else [])
        else:
            self.relationship(one, two)

    @rule(number=PICK, dependency=PICK)
    def change_a_page(self, number: int, dependency: int) -> None:
        active = [r for r in self.pages(eligible=False) if r.lifecycle == "active"]
        page = self.pick(number, among=active)
        if page is None:
            return
        seen = sorted(self.model.eligible())
        more: dict[str, Any] = {"summary": self.text()}
        if dependency % 3 == 0 and seen:
            more["dependencies"] = [seen[dependency % len(seen)]]
        self.operate("knowledge_save_page", **self.box.fence(page.id), **more)
        self.rewritten(page)

    @rule(number=PICK)
    def correct(self, number: int) -> None:
        seen = self.model.eligible()
        among = [
            r for r in self.with_a_file()
            if r.kind != "page" and r.lifecycle == "active" and r.id in seen
        ]  # fmt: skip
        wrong = self.pick(number, among=among)
        if wrong is None:
            return
        standing = self.model.dependents(wrong.id) | {wrong.id}
        sound = [p.id for p in self.pages() if p.id not in standing]
        if sound:
            self.correct_one(wrong, sound[number % len(sound)])

    def correct_one(self, wrong: Expected, page: str) -> None:
        values = (
            self.box.claim_values(page, self.text()) if wrong.kind == "claim"
            else self.box.relationship_values(page, page, self.text())
        )  # fmt: skip
        impact = self.model.dependents(wrong.id)
        receipt = self.operate("knowledge_correct", **self.box.correction(wrong.id, values))
        assert {i["id"] for i in receipt["impact"]["items"]} == impact
        self.rewritten(wrong)
        replacement = self.created(receipt["replacementId"], wrong.kind)
        wrong.lifecycle, wrong.successor, wrong.superseded = "superseded", replacement.id, True

    @rule(number=PICK)
    def withdraw(self, number: int) -> None:
        record = self.pick(number, among=self.with_a_file())
        if record is None:
            return
        request = {**self.box.fence(record.id), "reason": "not so"}
        if record.lifecycle in ("withdrawn", "merged"):
            assert isinstance(self.box.refused("knowledge_withdraw", **request), LifecycleRefused)
            return
        impact = self.model.dependents(record.id)
        receipt = self.operate("knowledge_withdraw", **request)
        assert {i["id"] for i in receipt["impact"]["items"]} == impact
        self.rewritten(record)
        record.lifecycle = "withdrawn"

    @rule(first=PICK, second=PICK)
    def merge_once_more(self, first: int, second: int) -> None:
        self.merge(first, second)  # merges are worth many steps: chains are where faults hide

    @rule(first=PICK, second=PICK)
    def merge(self, first: int, second: int) -> None:
        active = [r for r in self.pages(eligible=False) if r.lifecycle == "active"]
        if len(active) < 2:
            return
        survivor = active[first % len(active)]
        others = [page for page in active if page is not survivor]
        absorbed = others[second % len(others)]
        request = self.box.merging(survivor.id, absorbed.id)
        if self.model.depth_below(absorbed.id) >= MAX_HOPS:
            assert isinstance(self.box.refused("knowledge_merge", **request), LifecycleRefused)
            return
        self.merge_two(survivor, absorbed)

    def merge_two(self, survivor: Expected, absorbed: Expected) -> None:
        self.operate("knowledge_merge", **self.box.merging(survivor.id, absorbed.id))
        self.model.merge(survivor, absorbed)
        self.rewritten(survivor, absorbed)

    @rule(number=PICK)
    def unmerge(self, number: int) -> None:
        merged = [r for r in self.pages(eligible=False) if r.lifecycle == "merged"]
        page = self.pick(number, among=merged)
        if page is None:
            return
        assert page.successor is not None
        survivor = self.model.records[page.successor]
        request = {**self.box.fence(page.id), "reason": "two"}
        if survivor.lifecycle == "merged":
            assert isinstance(self.box.refused("knowledge_unmerge", **request), LifecycleRefused)
        elif survivor.editable:
            revision = page.revision
            self.operate("knowledge_unmerge", **request)
            self.rewritten(page, survivor)
            assert page.revision == revision + 1
            self.model.unmerge(page)

    # Requests that come again, or too late

    @rule(number=PICK, stale=st.booleans())
    def a_request_comes_again_or_too_late(self, number: int, stale: bool) -> None:
        if not stale:
            name, arguments, receipt = self.answered[number % len(self.answered)]
            with self.box.nothing_changes():
                assert self.box.call(name, **arguments) == receipt
            return
        changed = [r for r in self.with_a_file() if r.revision > 1 and r.lifecycle == "active"]
        record = self.pick(number, among=changed)
        if record is None:
            return
        fence = self.box.fence(record.id) | {"expectedRevision": record.revision - 1}
        refused = self.box.refused("knowledge_withdraw", **fence, reason="x")
        assert isinstance(refused, StaleRevision)
        assert refused.data["current"]["revision"] == record.revision

    @rule(number=PICK, point=st.sampled_from(POINTS), nth=st.integers(1, 2))
    def crash_and_repeat(self, number: int, point: str, nth: int) -> None:
        """End a process in the middle of a withdrawal or a merge, and send the request again."""
        active = [r for r in self.with_a_file() if r.lifecycle == "active"]
        record = self.pick(number, among=active)
        if record is None:
            return
        others = [
            r for r in active
            if r.kind == record.kind == "page" and r is not record
            and self.model.depth_below(r.id) < MAX_HOPS
        ]  # fmt: skip
        request_id = self.box.new_request()
        absorbed = others[number % len(others)] if others and number % 2 else None
        if absorbed is None:
            name = "knowledge_withdraw"
            arguments = {**self.box.fence(record.id), "reason": "x", "requestId": request_id}
        else:
            name = "knowledge_merge"
            arguments = self.box.merging(record.id, absorbed.id) | {"requestId": request_id}
        code = self.in_a_child(name, arguments, f"{point}:{nth}")
        note(f"{name} at {point}:{nth} ended with {code}")
        assert code in (0, failpoints.EXIT_CODE)
        self.box.reopen()
        entry = rows.find(self.box.ws.database, request_id)
        assert entry is None or entry.state == rows.PUBLISHED
        if entry is None:
            assert self.box.files() == self.model.files, "it never happened"
        receipt = self.box.call(name, **arguments)
        self.answered.append((name, arguments, receipt))
        assert not list((self.box.root / ".vault-kg/tmp").glob("*")), "no temporary file is left"
        if absorbed is None:
            self.rewritten(record)
            record.lifecycle = "withdrawn"
        else:
            self.model.merge(record, absorbed)
            self.rewritten(record, absorbed)

    def in_a_child(self, name: str, arguments: dict[str, Any], armed: str) -> int:
        child = os.fork()
        if child == 0:
            code = 99
            try:
                os.environ[failpoints.ENVIRONMENT] = armed
                workspace = Workspace.open(self.box.root, clock=self.box.clock)
                registry.call(workspace, name, arguments, ANYBODY)
                code = 0
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
        return os.waitstatus_to_exitcode(status)

    # What people and tools do to files

    def put(self, path: str, content: bytes) -> None:
        self.box.put(path, content)
        self.model.files[path] = content

    def remove(self, path: str) -> None:
        (self.box.root / path).unlink()
        del self.model.files[path]

    @rule(
        number=PICK,
        act=st.sampled_from(["edit", "edit", "lifecycle", "move", "delete", "copy"]),
        more=st.sampled_from(["active", "withdrawn", "superseded"]),
    )
    def a_person_saves(self, number: int, act: str, more: str) -> None:
        record = self.pick(number, among=self.with_a_file())
        if record is None or record.path is None:
            return
        if act in ("edit", "lifecycle"):
            content = self.edited(record.content, act, more)
            self.put(record.path, content)
            self.box.scan()
            self.model.saved(record, content)
        elif act == "move":
            self.numbers += 1
            folder = ("pages/moved", "elsewhere", "claims/x")[number % 3]
            target = f"main/{folder}/m{self.numbers}.md"
            self.remove(record.path)
            self.put(target, record.content)
            self.box.scan()
            self.model.saved(record, record.content, target)
        elif len(self.with_a_file()) > 4 and act == "delete":
            self.remove(record.path)
            self.box.scan()
            record.path = None
        elif len(self.with_a_file()) > 4:
            self.numbers += 1
            copy = f"main/copies/c{self.numbers}.md"
            self.put(copy, record.content)
            self.box.scan()
            record.copies[copy] = record.content

    def edited(self, content: bytes, act: str, lifecycle: str) -> bytes:
        if act == "edit":
            return content + f"\nBy hand: {self.text()}\n".encode()
        lines = content.split(b"\n")
        at = next(n for n, line in enumerate(lines) if line.startswith(b"lifecycle:"))
        lines[at] = f"lifecycle: {lifecycle}".encode()
        return b"\n".join(lines)

    @precondition(lambda self: any(r.copies for r in self.model.records.values()))
    @rule(number=PICK, act=st.sampled_from(["edit the copy", "delete it", "delete the original"]))
    def settle_a_copy(self, number: int, act: str) -> None:
        copied = [r for r in self.model.records.values() if r.copies]
        record = copied[number % len(copied)]
        copy = sorted(record.copies)[0]
        if act == "edit the copy":
            record.copies[copy] += f"\nIn the copy: {self.text()}\n".encode()
            self.put(copy, record.copies[copy])
            self.box.scan()
            return
        content = record.copies.pop(copy)
        assert record.path is not None
        self.remove(record.path if act == "delete the original" else copy)
        self.box.scan()
        if act == "delete the original":
            self.model.saved(record, content, copy)

    @rule(number=PICK)
    def restore_the_file(self, number: int) -> None:
        gone = [r for r in self.model.records.values() if r.path is None]
        record = self.pick(number, among=gone)
        if record is None:
            return
        receipt = self.operate("knowledge_restore", id=record.id)
        record.path = receipt["path"]
        self.model.files[receipt["path"]] = record.content

    @rule(number=PICK, version=PICK)
    def put_old_bytes_back(self, number: int, version: int) -> None:
        """Restore a backup of one file, as `git checkout`, a sync tool or a person would."""
        records = [r for r in self.model.records.values() if not r.copies]
        record = records[number % len(records)]
        content = record.versions[version % len(record.versions)]
        self.numbers += 1
        path = record.path or f"main/restored/r{self.numbers}.md"
        self.put(path, content)
        self.box.scan()
        self.model.saved(record, content, path)

    @rule(rebuild=st.booleans())
    def open_again(self, rebuild: bool) -> None:
        if rebuild:
            self.derived_tables_rebuilt()
        self.box.reopen()

    # What holds after every step

    @invariant()
    def files_are_changed_by_their_own_operation_only(self) -> None:
        assert self.box.files() == self.model.files

    @invariant()
    def default_reads_see_what_is_eligible(self) -> None:
        if not self.model.records:
            return
        differing = self.box.listed() ^ self.model.eligible()
        assert not differing, [self.box.get(i, followMerges=False) for i in differing]
        for lifecycle in ("superseded", "withdrawn", "merged"):
            expected = {
                r.id for r in self.model.records.values()
                if r.lifecycle == lifecycle and r.path is not None
            }  # fmt: skip
            assert self.box.listed(lifecycle=lifecycle) == expected, lifecycle

    @invariant()
    def exact_reads_answer_as_the_record_stands(self) -> None:
        seen = self.model.eligible()
        for record in self.model.records.values():
            if record.path is None or record.copies:
                wanted = MissingFile if record.path is None else Ambiguous
                with pytest.raises(wanted):
                    self.box.get(record.id, followMerges=False)
                continue
            view = self.box.get(record.id, followMerges=False)
            assert view["lifecycle"] == record.lifecycle, record
            assert view["revision"] == record.revision, record
            assert view["eligible"] == (record.id in seen), record
            assert bool(view["reasons"]) != view["eligible"], view["reasons"]
            assert view["path"] == record.path
            if record.superseded or record.lifecycle == "merged":
                name = "supersededBy" if record.superseded else "mergedInto"
                assert view[name] == record.successor
            stands = self.model.stands(record.id)
            assert view["currentId"] == stands

    @invariant()
    def merges_are_followed(self) -> None:
        for record in self.model.records.values():
            final = self.model.resolve(record.id)
            if record.lifecycle == "merged" and final and self.model.records[final].editable:
                assert self.box.get(record.id)["id"] == final

    @invariant()
    def history_is_complete_and_grows(self) -> None:
        for record in self.model.records.values():
            history = [r["revision"] for r in self.box.history(record.id, limit=1000)]
            assert history == list(range(record.revision, record.first - 1, -1)), record

    @invariant()
    def impact_is_what_stands_on_a_record(self) -> None:
        for record in list(self.model.records.values())[:3]:
            told = self.box.call("knowledge_impact", id=record.id)
            assert {i["id"] for i in told["items"]} == self.model.dependents(record.id)
            assert told["total"] == len(self.model.dependents(record.id))

    # What holds at the end

    def derived_tables_rebuilt(self) -> None:
        """Hold that deriving everything from scratch gives the same tables."""
        before = [self.box.ws.database.rows(sql) for sql in DERIVED]
        care.reindex(self.box.ws)
        after = [self.box.ws.database.rows(sql) for sql in DERIVED]
        for number, (old, new) in enumerate(zip(before, after, strict=True)):
            assert old == new, (
                f"table {number}: {sorted(set(old) ^ set(new), key=str)[:4]}"  # type: ignore[type-var]
            )

    def one_commit_for_each_entry_with_files(self) -> None:
        entries = self.box.ws.database.value(
            "SELECT count(DISTINCT seq) FROM journal JOIN journal_file USING (seq) "
            "WHERE state = 'published'"
        )
        assert int(self.box.git("rev-list", "--count", "HEAD")) == entries
        assert self.box.git("status", "--short") == ""


def _settings() -> settings:
    in_ci = os.environ.get("HYPOTHESIS_PROFILE") == "ci" or bool(os.environ.get("CI"))
    return settings(
        max_examples=24, stateful_step_count=25, deadline=None, derandomize=in_ci,
        suppress_health_check=list(HealthCheck), print_blob=True,
    )  # fmt: skip


TestLifecycle = Lifecycle.TestCase
TestLifecycle.settings = _settings()
