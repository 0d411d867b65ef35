"""An accepted request meets somebody's edit: nothing is overwritten, and a person chooses."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.operations.builder import VaultBox
from tests.store import trials
from tests.store.trials import Call
from vault_kg.store import files

BY_HAND = b"\nA word by hand.\n"
OUTSIDE = "outside.md"


def in_place(path: Path) -> None:
    with path.open("ab") as handle:
        handle.write(BY_HAND)


def by_rename(path: Path) -> None:
    beside = path.with_name("." + path.name + ".swp")
    beside.write_bytes(path.read_bytes() + BY_HAND)
    beside.replace(path)


def deleted(path: Path) -> None:
    path.unlink()


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "inside.txt").write_text("mine")


def a_link(path: Path) -> None:
    outside = path.parents[3] / OUTSIDE
    outside.write_bytes(path.read_bytes())
    path.unlink()
    path.symlink_to(outside)


def a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


EDITS = (in_place, by_rename, deleted, a_folder, a_link, a_pipe)
SAVES = (in_place, by_rename)
WINDOWS = ("accept.after", "install.temp-written:1")
Edit = Callable[[Path], None]


class Meeting:
    """A vault on which a request is about to meet an edit."""

    def __init__(self, folder: Path) -> None:
        box = VaultBox(folder / "vault")
        self.root = box.root
        self.ada = box.page("Ada", body="Some text.")
        self.augusta = box.page("Augusta", aliases=["wikidata:Q7259"])
        self.claim = box.claim(self.ada)
        self.path = box.path(self.ada)
        self.other = box.path(self.augusta)
        self.original = self.path.read_bytes()
        self.other_original = self.other.read_bytes()
        fence = box.fence(self.ada)
        self.change = Call(
            "knowledge_save_page", {"requestId": "change", **fence, "summary": "Proposed."}
        )
        self.merge = Call(
            "knowledge_merge", {"requestId": "merge", **box.merging(self.ada, self.augusta)}
        )
        box.ws.close()

    def met(self, call: Call, at: str, edit: Edit, path: Path | None = None) -> dict[str, Any]:
        """Let an edit happen while a call waits at a point; returns the refusal's data."""
        child = trials.start(self.root, call, f"{at}=pause")
        child.wait_for_pause()
        edit(path or self.path)
        answer = child.go_on()
        assert answer["error"]["code"] == "conflict_blocked", answer
        return dict(answer["error"]["data"])

    def versions(self, box: VaultBox) -> dict[str, tuple[bytes | None, ...]]:
        found = box.ws.database.rows(
            "SELECT path, original, proposed, displaced FROM conflict WHERE resolved_at IS NULL"
        )
        return {path: versions for path, *versions in found}


@pytest.fixture(scope="module")
def basis() -> Iterator[Path]:
    folder = trials.fast_folder()
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def meeting(basis: Path) -> Iterator[Meeting]:
    folder = basis / f"meeting-{len(list(basis.iterdir()))}"
    folder.mkdir()
    yield Meeting(folder)


def what_is_there(path: Path) -> Any:
    if path.is_symlink():
        return "link", str(path.readlink())
    if path.is_dir():
        return "folder", sorted(p.name for p in path.iterdir())
    if path.is_fifo():
        return "pipe"
    return path.read_bytes() if path.exists() else None


def refused(box: VaultBox, call: Call) -> str:
    answer = trials.perform(box.ws, call)
    return str(answer.get("error", {}).get("code"))


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("edit", EDITS, ids=lambda e: e.__name__)
def test_every_version_is_kept_and_only_that_record_is_blocked(
    meeting: Meeting, edit: Edit, window: str
) -> None:
    seen: list[Any] = []

    def edit_and_look(path: Path) -> None:
        edit(path)
        seen.append(what_is_there(path))

    data = meeting.met(meeting.change, window, edit_and_look)
    assert what_is_there(meeting.path) == seen[0], "the edit stands as it was made"
    with trials.looking_at(meeting.root) as box:
        path = box.relative(meeting.path)
        assert data["path"] == path
        original, proposed, displaced = meeting.versions(box)[path]
        assert original == meeting.original
        assert b"Proposed." in proposed
        assert displaced == (seen[0] if isinstance(seen[0], bytes) else None)
        trials.check_no_stray(meeting.root)

        get = Call("knowledge_get", {"id": meeting.ada})
        assert refused(box, get) == "conflict_blocked"
        assert meeting.ada not in box.listed()
        if isinstance(displaced, bytes):
            by_name = Call("knowledge_lookup", {"text": "Ada"})
            assert refused(box, by_name) == "conflict_blocked", "it is not said to be nothing"
        box.scan()
        assert refused(box, get) == "conflict_blocked"
        assert box.get(meeting.augusta)["title"] == "Augusta"
        assert box.change(meeting.augusta, summary="Still writable.")["revision"] == 2
        again = trials.perform(box.ws, meeting.change)["error"]
        assert again["data"]["conflict_id"] == data["conflict_id"]
        resumed = trials.perform(box.ws, Call("knowledge_resume", {"requestId": "change"}))
        assert (resumed["state"], resumed["conflicts"]) == ("conflicted", [data["conflict_id"]])
        assert what_is_there(meeting.path) == seen[0], "nothing that resumes overwrites it"


@pytest.mark.parametrize("edited", ["first", "second"])
@pytest.mark.parametrize("edit", EDITS, ids=lambda e: e.__name__)
def test_a_request_of_two_files_is_taken_back_wholly(
    meeting: Meeting, edit: Edit, edited: str
) -> None:
    path, rest = (meeting.path, meeting.other) if edited == "first" else (
        meeting.other, meeting.path,
    )  # fmt: skip
    before = rest.read_bytes(), rest.stat().st_ino
    window = "install.temp-written:2" if edited == "first" else "install.file-done:1"
    meeting.met(meeting.merge, window, edit, path)
    assert (rest.read_bytes(), rest.stat().st_ino) == before, "the very file is back"
    with trials.looking_at(meeting.root) as box:
        assert set(meeting.versions(box)) == {
            box.relative(meeting.path), box.relative(meeting.other),
        }  # fmt: skip
        trials.check_no_stray(meeting.root)
        assert box.ws.database.rows("SELECT * FROM merge") == []
        for record in (meeting.ada, meeting.augusta):
            assert refused(box, Call("knowledge_get", {"id": record})) == "conflict_blocked"


def test_an_edit_of_an_installed_file_stays_when_the_request_is_taken_back(
    meeting: Meeting,
) -> None:
    """The first file is edited after it was installed, and then the second one meets an edit."""
    by_hand: list[bytes] = []

    def edit_both(path: Path) -> None:
        in_place(meeting.path)
        by_hand.append(meeting.path.read_bytes())
        in_place(path)

    meeting.met(meeting.merge, "install.file-done:1", edit_both, meeting.other)
    assert meeting.path.read_bytes() == by_hand[0]
    with trials.looking_at(meeting.root) as box:
        versions = meeting.versions(box)
        assert versions[box.relative(meeting.path)][2] == by_hand[0]
        trials.check_no_stray(meeting.root)


def test_an_editor_that_had_the_file_open_and_saves_late_is_seen(meeting: Meeting) -> None:
    child = trials.start(meeting.root, meeting.change, "install.all-done=pause")
    child.wait_for_pause()
    (replaced,) = (meeting.root / ".vault-kg/tmp").iterdir()
    in_place(replaced)  # it is the file that the editor opened, under another name
    assert child.go_on()["error"]["code"] == "conflict_blocked"
    assert meeting.path.read_bytes() == meeting.original + BY_HAND


def test_a_file_that_appears_where_a_new_record_goes_is_not_overwritten(meeting: Meeting) -> None:
    create = Call(
        "knowledge_save_page", {"requestId": "new", "type": "Person", "title": "Charles Babbage"}
    )
    place = meeting.path.with_name("charles-babbage.md")
    for window, name in (("accept.after", "new"), ("install.temp-written:1", "newer")):
        call = Call(create.operation, create.arguments | {"requestId": name})
        data = meeting.met(call, window, lambda path: path.write_bytes(b"My own note.\n"), place)
        assert place.read_bytes() == b"My own note.\n"
        with trials.looking_at(meeting.root) as box:
            choice = {"conflictId": data["conflict_id"], "reason": "both are wanted"}
            box.write("knowledge_review", choice="apply_proposed", **choice)
            assert place.read_bytes() == b"My own note.\n"
            made = trials.perform(box.ws, call)
            assert made["choice"] == "apply_proposed"
            assert made["path"] != box.relative(place)
            assert box.get(made["targetId"])["title"] == "Charles Babbage"
        place.unlink()


# What a person chooses


@pytest.mark.parametrize("edit", SAVES, ids=lambda e: e.__name__)
def test_keeping_the_disk_keeps_the_edit_and_answers_the_request(
    meeting: Meeting, edit: Edit
) -> None:
    data = meeting.met(meeting.change, "install.temp-written:1", edit)
    with trials.looking_at(meeting.root) as box:
        kept = meeting.path.read_bytes()
        box.write(
            "knowledge_review", conflictId=data["conflict_id"], choice="keep_disk", reason="mine"
        )
        assert meeting.path.read_bytes() == kept
        view = box.get(meeting.ada)
        assert (view["revision"], view["summary"]) == (2, None)
        assert "A word by hand." in view["body"]
        answer = trials.perform(box.ws, meeting.change)
        assert answer["choice"] == "keep_disk" and answer["changed"] is False
        assert trials.perform(box.ws, meeting.change) == answer
        resumed = trials.perform(box.ws, Call("knowledge_resume", {"requestId": "change"}))
        assert resumed["state"] == "resolved"
        trials.check_whole(box)
        trials.check_git(box)


@pytest.mark.parametrize("edit", SAVES, ids=lambda e: e.__name__)
def test_applying_what_was_proposed_keeps_the_edit_in_the_history(
    meeting: Meeting, edit: Edit
) -> None:
    data = meeting.met(meeting.change, "accept.after", edit)
    with trials.looking_at(meeting.root) as box:
        by_hand = meeting.path.read_bytes()
        receipt = box.write(
            "knowledge_review", conflictId=data["conflict_id"], choice="apply_proposed",
            reason="the summary is right",
        )  # fmt: skip
        view = box.get(meeting.ada)
        assert (view["revision"], view["summary"]) == (3, "Proposed.")
        assert "by hand" not in view["body"]
        assert "by hand" in box.get(meeting.ada, revision=2)["body"]
        assert box.git("show", f"{receipt['git']['commit']}~1:{view['path']}").encode() == (
            by_hand.strip()
        )
        answer = trials.perform(box.ws, meeting.change)
        assert (answer["choice"], answer["revision"]) == ("apply_proposed", 3)
        assert answer["git"] == receipt["git"]
        trials.check_whole(box)
        trials.check_git(box)


def test_a_merged_file_is_written_as_it_was_given(meeting: Meeting) -> None:
    data = meeting.met(meeting.change, "accept.after", in_place)
    with trials.looking_at(meeting.root) as box:
        merged = meeting.path.read_text().replace("Some text.", "Text of both.")
        box.write(
            "knowledge_review", conflictId=data["conflict_id"], choice="merged", reason="joined",
            merged=merged,
        )  # fmt: skip
        view = box.get(meeting.ada)
        assert view["revision"] == 3
        assert "Text of both." in view["body"] and "A word by hand." in view["body"]
        assert trials.perform(box.ws, meeting.change)["choice"] == "merged"
        trials.check_whole(box)
        trials.check_git(box)


def test_a_merge_that_met_an_edit_can_be_applied_whole(meeting: Meeting) -> None:
    data = meeting.met(meeting.merge, "install.file-done:1", in_place, meeting.other)
    with trials.looking_at(meeting.root) as box:
        box.write(
            "knowledge_review", conflictId=data["conflict_id"], choice="apply_proposed",
            reason="they are one",
        )  # fmt: skip
        assert box.get(meeting.augusta)["id"] == meeting.ada
        assert "wikidata:Q7259" in box.get(meeting.ada)["aliases"]
        trials.check_whole(box)
        trials.check_git(box)


def test_a_deleted_file_can_stay_deleted_or_be_written_again(basis: Path) -> None:
    for choice in ("keep_disk", "apply_proposed"):
        folder = basis / f"deleted-{choice}"
        folder.mkdir()
        meeting = Meeting(folder)
        data = meeting.met(meeting.change, "install.temp-written:1", deleted)
        with trials.looking_at(meeting.root) as box:
            box.write(
                "knowledge_review", conflictId=data["conflict_id"], choice=choice, reason="so"
            )
            if choice == "keep_disk":
                assert refused(box, Call("knowledge_get", {"id": meeting.ada})) == "missing"
                assert len(box.history(meeting.ada)) == 1
            else:
                assert box.get(meeting.ada)["summary"] == "Proposed."
            trials.check_whole(box)
            trials.check_git(box)


@pytest.mark.parametrize("edit", [a_folder, a_link, a_pipe], ids=lambda e: e.__name__)
def test_what_is_no_file_is_cleared_away_by_the_person_first(meeting: Meeting, edit: Edit) -> None:
    data = meeting.met(meeting.change, "install.temp-written:1", edit)
    there = what_is_there(meeting.path)
    choose = {"conflictId": data["conflict_id"], "choice": "apply_proposed", "reason": "so"}
    with trials.looking_at(meeting.root) as box:
        assert refused(box, Call("knowledge_review", choose | {"requestId": "a"})) == "unsafe_path"
        assert what_is_there(meeting.path) == there
        if edit is a_folder:
            meeting.path.rename(meeting.path.with_name("moved-away"))
        else:
            meeting.path.unlink()
        box.call("knowledge_review", **choose, requestId="a")
        assert box.get(meeting.ada)["summary"] == "Proposed."
        trials.check_whole(box)


# The process dies meanwhile


@pytest.mark.parametrize(
    "point",
    ["install.taken-back:1", "install.taken-back:2", "conflict.rolled-back", "conflict.recorded"],
)
@pytest.mark.parametrize("edited", ["first", "second"])
def test_a_process_that_dies_while_it_gives_way_loses_nothing(
    meeting: Meeting, edited: str, point: str
) -> None:
    """The edit is made while the request lies accepted; the next opening meets it, and dies too."""
    trials.crash(meeting.root, meeting.merge, "install.file-done:1")
    path = meeting.path if edited == "first" else meeting.other
    in_place(path)
    by_hand = path.read_bytes()
    proposed = meeting.path.read_bytes() if edited == "second" else None
    trials.crash(meeting.root, meeting.merge, point)
    with trials.looking_at(meeting.root) as box:
        assert path.read_bytes() == by_hand
        other = meeting.other if edited == "first" else meeting.path
        assert other.read_bytes() in (meeting.original, meeting.other_original)
        versions = meeting.versions(box)[box.relative(path)]
        assert versions[2] == by_hand and versions[0] != by_hand
        if proposed:
            assert meeting.versions(box)[box.relative(meeting.path)][1] == proposed
        trials.check_no_stray(meeting.root)


@pytest.fixture(params=["exchange", "no-exchange", "no-links"])
def platform(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """A file system that exchanges names, one that cannot, and one without hard links either."""
    if request.param != "exchange":
        monkeypatch.setattr(files, "_exchanger", lambda: None)
    if request.param == "no-links":

        def refuse(*_: object, **__: object) -> None:
            raise OSError(errno.EPERM, os.strerror(errno.EPERM))

        monkeypatch.setattr(os, "link", refuse)
    return str(request.param)


@pytest.mark.parametrize("edit", [e for e in EDITS if e is not deleted], ids=lambda e: e.__name__)
def test_a_save_in_the_last_instant_survives_the_process_that_displaced_it(
    meeting: Meeting, edit: Edit, platform: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    swap = files.swap

    def edit_and_swap(prepared: Path, target: Path) -> None:
        edit(target)
        swap(prepared, target)

    monkeypatch.setattr(files, "swap", edit_and_swap)
    trials.crash(meeting.root, meeting.change, "install.exchanged")
    monkeypatch.setattr(files, "swap", swap)
    assert b"Proposed." in meeting.path.read_bytes()
    with trials.looking_at(meeting.root) as box:
        displaced = meeting.versions(box)[box.relative(meeting.path)][2]
        if edit in SAVES:
            assert displaced == meeting.original + BY_HAND == meeting.path.read_bytes()
        else:
            assert displaced is None
            assert not meeting.path.is_file() or meeting.path.is_symlink()
        trials.check_no_stray(meeting.root)


def test_a_second_save_after_the_crash_stays_and_the_first_is_kept(
    meeting: Meeting, monkeypatch: pytest.MonkeyPatch
) -> None:
    swap = files.swap

    def edit_and_swap(prepared: Path, target: Path) -> None:
        in_place(target)
        swap(prepared, target)

    monkeypatch.setattr(files, "swap", edit_and_swap)
    trials.crash(meeting.root, meeting.change, "install.exchanged")
    monkeypatch.setattr(files, "swap", swap)
    meeting.path.write_bytes(meeting.path.read_bytes() + b"\nA second word.\n")
    second = meeting.path.read_bytes()
    with trials.looking_at(meeting.root) as box:
        assert meeting.path.read_bytes() == second
        displaced = meeting.versions(box)[box.relative(meeting.path)][2]
        assert displaced == meeting.original + BY_HAND


@pytest.mark.parametrize("edited", ["first", "second"])
def test_conflicts_are_the_same_where_names_cannot_be_exchanged(
    meeting: Meeting, edited: str, platform: str
) -> None:
    path, rest = (meeting.path, meeting.other) if edited == "first" else (
        meeting.other, meeting.path,
    )  # fmt: skip
    before = rest.read_bytes()
    window = "install.temp-written:2" if edited == "first" else "install.file-done:1"
    meeting.met(meeting.merge, window, in_place, path)
    assert path.read_bytes().endswith(BY_HAND)
    assert rest.read_bytes() == before
    trials.check_no_stray(meeting.root)


@pytest.mark.parametrize("point", ["install.moved-aside:1", "install.moved-aside:2"])
@pytest.mark.parametrize("links", [True, False], ids=["links", "no-links"])
def test_a_file_that_was_moved_aside_is_not_lost_with_the_process(
    meeting: Meeting, point: str, links: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_exchanger", lambda: None)
    if not links:
        monkeypatch.setattr(os, "link", _no_link)
    trials.crash(meeting.root, meeting.merge, point)
    with trials.looking_at(meeting.root) as box:
        assert box.get(meeting.augusta)["id"] == meeting.ada
        trials.check_whole(box)
        trials.check_git(box)


def _no_link(*_: object, **__: object) -> None:
    raise OSError(errno.EPERM, os.strerror(errno.EPERM))
