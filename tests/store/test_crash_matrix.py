"""Every writing operation, ended hard at every step: it happened wholly, or it never happened."""

from __future__ import annotations

import base64
import hashlib
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.operations.builder import VaultBox
from tests.store import trials
from tests.store.trials import Call

NOTE = "# A loose note\r\n\r\nIt is not a record yet.\r\n"
UNTRACKED = frozenset({"notes/loose.md", "main/claims/ada/ada-wrote-the-notes.md"})
REQUEST = "tried"
LONG = "A long letter.\n" * 40

Arrange = Callable[[VaultBox, dict[str, str]], Call]


def _create(box: VaultBox, ids: dict[str, str]) -> Call:
    return Call("knowledge_save_page", {"type": "Person", "title": "Charles Babbage"})


def _change(box: VaultBox, ids: dict[str, str]) -> Call:
    fence = box.fence(ids["ada"])
    return Call("knowledge_save_page", {**fence, "summary": "A mathematician.", "tags": ["x"]})


def _edit_body(box: VaultBox, ids: dict[str, str]) -> Call:
    edits = [{"find": "Some text", "replace": "Other text"}]
    return Call("knowledge_edit_body", {**box.fence(ids["ada"]), "edits": edits})


def _claim(box: VaultBox, ids: dict[str, str]) -> Call:
    values = box.claim_values(ids["ada"], "Babbage built the engine.", entities=[ids["augusta"]])
    del values["kind"]
    return Call("knowledge_save_claim", {**values})


def _relationship(box: VaultBox, ids: dict[str, str]) -> Call:
    values = box.relationship_values(ids["ada"], ids["augusta"])
    del values["kind"]
    return Call("knowledge_save_relationship", {**values})


def _correct(box: VaultBox, ids: dict[str, str]) -> Call:
    replacement = box.claim_values(ids["ada"], "They met in 1833.")
    return Call("knowledge_correct", box.correction(ids["claim"], replacement))


def _withdraw(box: VaultBox, ids: dict[str, str]) -> Call:
    return Call("knowledge_withdraw", {**box.fence(ids["relationship"]), "reason": "not so"})


def _withdraw_broken(box: VaultBox, ids: dict[str, str]) -> Call:
    path = box.path(ids["claim"])
    revision = box.get(ids["claim"])["revision"]
    path.write_bytes(b"---\nformat: knowledge-record-v1\nbroken: [\n---\n")
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    fence = {"id": ids["claim"], "expectedRevision": revision, "expectedHash": f"sha256:{sha256}"}
    return Call("knowledge_withdraw", {**fence, "reason": "it cannot be read"})


def _merge(box: VaultBox, ids: dict[str, str]) -> Call:
    return Call("knowledge_merge", {**box.merging(ids["ada"], ids["augusta"])})


def _unmerge(box: VaultBox, ids: dict[str, str]) -> Call:
    return Call("knowledge_unmerge", {**box.fence(ids["merged"]), "reason": "they are two"})


def _attach_file(box: VaultBox, ids: dict[str, str]) -> Call:
    outside = box.root.parent / "letter.txt"
    outside.write_text(LONG)
    sha256 = hashlib.sha256(LONG.encode()).hexdigest()
    return Call("knowledge_attach_file", {"filePath": str(outside), "sha256": sha256})


def _attach(box: VaultBox, ids: dict[str, str]) -> Call:
    """The second and last chunk of an upload."""
    content = LONG.encode()
    sha256 = hashlib.sha256(content).hexdigest()
    values = {"requestId": REQUEST, "name": "letter.txt", "size": len(content), "sha256": sha256}
    first, last = (base64.b64encode(part).decode() for part in (content[:100], content[100:]))
    trials.perform(box.ws, Call("knowledge_attach", {**values, "offset": 0, "chunk": first}))
    return Call("knowledge_attach", {**values, "offset": 100, "chunk": last, "final": True})


def _adopt(box: VaultBox, ids: dict[str, str]) -> Call:
    return Call("knowledge_adopt", {"path": "notes/loose.md", "type": "Document"})


def _restore(box: VaultBox, ids: dict[str, str]) -> Call:
    box.path(ids["claim"]).unlink()
    box.scan()
    return Call("knowledge_restore", {"id": ids["claim"]})


def _restore_over_a_note(box: VaultBox, ids: dict[str, str]) -> Call:
    path = box.path(ids["claim"])
    path.unlink()
    box.scan()
    path.write_text("a note took its place\n")
    return Call("knowledge_restore", {"id": ids["claim"]})


def _review(choice: str) -> Arrange:
    def arrange(box: VaultBox, ids: dict[str, str]) -> Call:
        """A correction of two files met an edit of the first."""
        call = _correct(box, ids)
        call.arguments["requestId"] = "met"
        path = box.path(ids["claim"])
        box.ws.close()
        trials.crash(box.root, call, "accept.after")
        edited = path.read_text() + "\nAnd a word by hand.\n"
        path.write_text(edited)
        box.reopen()
        found = box.ws.database.value(
            "SELECT id FROM conflict WHERE record_id = ?", (ids["claim"],)
        )
        merged = {"merged": edited + "\nAnd another.\n"} if choice == "merged" else {}
        choose = {"conflictId": found, "choice": choice, "reason": "I saw it"}
        return Call("knowledge_review", choose | merged)

    return arrange


def _edited(box: VaultBox, ids: dict[str, str]) -> Call:
    box.edit(ids["ada"], "Some text", "Text by hand")
    return Call(trials.SCAN)


def _much_edited(box: VaultBox, ids: dict[str, str]) -> Call:
    """An edit, a moved file, a deleted one, a new one and a copy, all at once."""
    box.edit(ids["ada"], "Some text", "Text by hand")
    moved = box.path(ids["augusta"])
    moved.rename(moved.with_name("moved.md"))
    box.path(ids["relationship"]).unlink()
    text = box.path(ids["claim"]).read_text()
    box.put("main/claims/ada/copied.md", text)
    box.put("main/claims/ada/new.md", text.replace(ids["claim"], "cl_01kh0000000000000000000007"))
    return Call(trials.SCAN)


SCENARIOS: dict[str, Arrange] = {
    "save_page-create": _create,
    "save_page-change": _change,
    "edit_body": _edit_body,
    "save_claim": _claim,
    "save_relationship": _relationship,
    "correct": _correct,
    "withdraw": _withdraw,
    "withdraw-broken": _withdraw_broken,
    "merge": _merge,
    "unmerge": _unmerge,
    "attach_file": _attach_file,
    "attach": _attach,
    "adopt": _adopt,
    "restore": _restore,
    "restore-over-a-note": _restore_over_a_note,
    "review-keep_disk": _review("keep_disk"),
    "review-apply_proposed": _review("apply_proposed"),
    "review-merged": _review("merged"),
    "scan-edit": _edited,
    "scan-many": _much_edited,
}

ACCEPTED = ["lane.held:1", "accept.before:1", "accept.after:1"]
PUBLISHED = ["publish.before:1", "publish.inside:1", "publish.after:1"]
COMMITTED = ["git.before:1", "git.committed:1", "git.after:1"]
OBSERVED = ["publish.inside:1", "publish.after:1"]
OBSERVED_BEFORE = ["publish.before:1", "publish.inside:2", "publish.after:2"]


def _writing(files: int, published: list[str] = PUBLISHED) -> list[str]:
    installed = [f"install.temp-written:{n + 1}" for n in range(files)]
    for n in range(files):
        installed += [f"install.exchanged:{n + 1}", f"install.file-done:{n + 1}"]
    return [*ACCEPTED, *installed, "install.all-done:1", *published, *COMMITTED]


POINTS: dict[str, list[str]] = dict.fromkeys(SCENARIOS, _writing(1)) | {
    "correct": _writing(2),
    "merge": _writing(2),
    "unmerge": _writing(2),
    "attach_file": _writing(2),
    "attach": _writing(2),
    "restore-over-a-note": _writing(2),
    "withdraw-broken": _writing(0),
    "review-keep_disk": [*ACCEPTED, *OBSERVED, *OBSERVED_BEFORE, *COMMITTED],
    "review-apply_proposed": [*OBSERVED, *_writing(2, OBSERVED_BEFORE)],
    "review-merged": [*OBSERVED, *_writing(2, OBSERVED_BEFORE)],
    "scan-edit": ["lane.held:1", *OBSERVED, *COMMITTED],
    "scan-many": [
        "lane.held:1", *OBSERVED, "lane.held:2", "publish.inside:2", "publish.after:2", *COMMITTED,
    ],
}  # fmt: skip
CELLS = [
    pytest.param(scenario, point, id=f"{scenario}-{point}")
    for scenario in SCENARIOS
    for point in POINTS[scenario]
]


@dataclass(frozen=True)
class Prepared:
    """A closed vault that a call is about to be made on, and the two states that are allowed."""

    root: Path
    call: Call
    known: str
    before: Any
    after: Any
    observed: int
    """How many edits by hand are known in both."""


class Stage:
    """The vaults of this file: one basis, and what each scenario makes of a copy of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._prepared: dict[str, Prepared] = {}
        box = VaultBox(folder / "basis")
        ids = {"ada": box.page("Ada", body="Some text."), "augusta": box.page("Augusta")}
        ids["merged"] = box.page("Countess", aliases=["wikidata:Q7259"])
        ids["claim"] = box.claim(ids["ada"])
        ids["relationship"] = box.relationship(ids["ada"], ids["augusta"])
        box.merge(ids["ada"], ids["merged"])
        box.put("notes/loose.md", NOTE)
        box.scan()
        box.ws.close()
        self._ids = ids

    def prepared(self, scenario: str) -> Prepared:
        if scenario not in self._prepared:
            self._prepared[scenario] = self._prepare(scenario)
        return self._prepared[scenario]

    def _prepare(self, scenario: str) -> Prepared:
        root = trials.copy(self.folder / "basis", self.folder)
        box = trials.opened(root)
        call = SCENARIOS[scenario](box, self._ids)
        if call.operation != trials.SCAN:
            call.arguments.setdefault("requestId", REQUEST)
        box.ws.close()
        tried = trials.copy(root, self.folder)
        with trials.looking_at(tried) as done:
            known = str(trials.state_of(done))
            if call.operation != trials.SCAN:
                done.scan()
            before = trials.shape(trials.state_of(done), known)
            answer = trials.perform(done.ws, call)
            assert "error" not in answer, answer
            after = trials.shape(trials.state_of(done), known)
            trials.check_whole(done)
            trials.check_git(done, UNTRACKED)
            observed = sum(row[0] == "observe" for row in trials.journal_of(done))
        assert before != after
        return Prepared(root, call, known, before, after, observed)


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    folder = trials.fast_folder()
    yield Stage(folder)
    shutil.rmtree(folder)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_matrix_has_every_point_that_an_operation_comes_to(stage: Stage, scenario: str) -> None:
    prepared = stage.prepared(scenario)
    met = trials.points_of(trials.copy(prepared.root, stage.folder), prepared.call)
    assert sorted(met) == sorted(POINTS[scenario])


@pytest.mark.parametrize(("scenario", "point"), CELLS)
def test_an_operation_that_died_happened_wholly_or_never(
    stage: Stage, scenario: str, point: str
) -> None:
    prepared = stage.prepared(scenario)
    root = trials.copy(prepared.root, stage.folder)
    trials.crash(root, prepared.call, point)
    with trials.looking_at(root) as box:
        box.scan()
        found = trials.shape(trials.state_of(box), prepared.known)
        if found != prepared.before:
            assert found == prepared.after
        answer = trials.perform(box.ws, prepared.call)
        assert "error" not in answer, answer
        stands = trials.state_of(box)
        assert trials.shape(stands, prepared.known) == prepared.after
        assert trials.without_git(trials.perform(box.ws, prepared.call)) == trials.without_git(
            answer
        )
        assert trials.state_of(box) == stands
        trials.check_whole(box)
        box.ws.outbox.drain()
        trials.check_git(box, UNTRACKED)
    shutil.rmtree(root)


@pytest.mark.parametrize("point", ["install.exchanged:1", "install.file-done:1", "publish.inside"])
@pytest.mark.parametrize("scenario", ["withdraw", "correct", "merge", "unmerge"])
def test_a_reader_that_was_open_does_not_take_a_dead_writers_files_for_edits(
    stage: Stage, scenario: str, point: str
) -> None:
    prepared = stage.prepared(scenario)
    root = trials.copy(prepared.root, stage.folder)
    record = prepared.call.arguments.get("id") or prepared.call.arguments["survivor"]["id"]
    opened, died = root.with_suffix(".opened"), root.with_suffix(".died")

    def read() -> Any:
        with trials.looking_at(root) as box:
            opened.touch()
            while not died.exists():
                time.sleep(0.001)
            return trials.perform(box.ws, Call("knowledge_get", {"id": record}))

    reader = trials.fork(read)
    while not opened.exists():
        time.sleep(0.001)
    trials.crash(root, prepared.call, point)
    died.touch()
    assert reader.wait() == 0, reader.said()
    assert reader.result()["id"], "it was answered"
    with trials.looking_at(root) as box:
        assert "error" not in trials.perform(box.ws, prepared.call)
        assert trials.shape(trials.state_of(box), prepared.known) == prepared.after
        made = box.ws.database.rows("SELECT operation FROM journal WHERE operation = 'observe'")
        assert len(made) == prepared.observed
        trials.check_whole(box)
    shutil.rmtree(root)
