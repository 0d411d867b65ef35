"""A disk that is full or refuses: a clear error, nothing acknowledged and nothing half done."""

from __future__ import annotations

import hashlib
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.operations.builder import Clock, VaultBox
from tests.store import trials
from tests.store.trials import Call, as_nobody, give_to_nobody
from vault_kg.operations.workspace import Workspace
from vault_kg.state.database import Database

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="limits and modes of POSIX")

LONG = "A long text that takes room.\n" * 4000


class Prepared:
    """A vault with something to change in two folders, and a change of each kind."""

    def __init__(self, folder: Path) -> None:
        box = VaultBox(folder / "vault")
        self.root = box.root
        self.ada, self.augusta = box.page("Ada", body="Some text."), box.page("Augusta")
        self.claim = box.claim(self.ada)
        moved = box.path(self.augusta)
        (box.root / "main/pages/other").mkdir()
        moved.rename(box.root / "main/pages/other/augusta.md")
        box.scan()
        fence, merging = box.fence(self.ada), box.merging(self.ada, self.augusta)
        correction = box.correction(self.claim, box.claim_values(self.ada, "Better."))
        self.calls = {
            "change": Call("knowledge_save_page", {"requestId": "c", **fence, "body": LONG}),
            "create": Call(
                "knowledge_save_page",
                {"requestId": "n", "type": "Company", "title": "New", "body": LONG},
            ),
            "correct": Call("knowledge_correct", {"requestId": "k", **correction}),
            "merge": Call("knowledge_merge", {"requestId": "m", **merging, "body": LONG}),
        }
        box.ws.close()
        self.files = box.files()


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    made = trials.fast_folder()
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)


@pytest.fixture(scope="module")
def prepared(folder: Path) -> Prepared:
    return Prepared(folder)


def files_of(root: Path) -> dict[str, bytes]:
    box = object.__new__(VaultBox)
    box.root = root
    return box.files()


def folders_of(root: Path) -> set[Path]:
    return {p.relative_to(root) for p in root.rglob("*") if p.is_dir() and ".git" not in p.parts}


def try_in_trouble(
    root: Path, call: Call, trouble: Callable[[], None], *, then: Call | None = None
) -> list[dict[str, Any]]:
    """Perform a call in a child for which there is trouble once the vault is open."""

    def action() -> list[dict[str, Any]]:
        ws = Workspace.open(root, clock=Clock())
        trouble()
        answers = [trials.perform(ws, c) for c in (call, then) if c is not None]
        limited_to(resource.RLIM_INFINITY)
        return answers

    child = trials.fork(action)
    assert child.wait() == 0, child.said()
    return list(child.result())


def check_afterwards(prepared: Prepared, root: Path, call: Call, answer: dict[str, Any]) -> bool:
    """Hold that a call came to nothing or to everything; says which, having repeated it."""
    if "error" in answer:
        assert answer["error"]["code"] == "write_failed", answer
        assert "repeat the request" in answer["error"]["message"]
        assert files_of(root) == prepared.files, "nothing is half done"
    with trials.looking_at(root) as box:
        again = trials.perform(box.ws, call)
        assert "error" not in again, again
        if "error" not in answer:
            assert trials.without_git(again) == trials.without_git(answer)
        box.ws.outbox.drain()
        trials.check_whole(box)
        trials.check_git(box)
    return "error" not in answer


# No room


def limited_to(size: int) -> None:
    """No file may grow beyond a size: what SQLite and we write fails there, as on a full disk."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


SIZES = [*range(2_000, 40_000, 4_120), *range(40_000, 1_800_000, 120_000), 50_000_000]


@pytest.mark.parametrize("name", ["change", "create", "correct", "merge"])
def test_wherever_the_room_ends_a_request_happens_wholly_or_not_at_all(
    folder: Path, prepared: Prepared, name: str
) -> None:
    call = prepared.calls[name]
    outcomes = set()
    for size in SIZES:
        root = trials.copy(prepared.root, folder)
        folders = folders_of(root)
        get = Call("knowledge_get", {"id": prepared.claim})
        answer, read = try_in_trouble(root, call, lambda size=size: limited_to(size), then=get)
        assert read.get("id") == prepared.claim, read
        if "error" in answer:
            assert folders_of(root) == folders
        outcomes.add(check_afterwards(prepared, root, call, answer))
        shutil.rmtree(root)
    assert outcomes == {True, False}, "both were tried"


AFTER_ACCEPTANCE = (
    "accept.after",
    "install.temp-written:2",
    "install.file-done:1",
    "install.all-done",
    "publish.before",
    "publish.inside",
    "publish.after",
    "git.before",
)


def call_with_a_full_state(
    root: Path, call: Call, point: str, spare: int = 0, meanwhile: Callable[[], None] | None = None
) -> dict[str, Any]:
    """Perform a call for which the state can grow only so much more once it comes to a point."""
    child = trials.start(root, call, f"{point}=pause")
    child.wait_for_pause()
    if meanwhile is not None:
        meanwhile()
    size = (root / ".vault-kg/state.sqlite-wal").stat().st_size + spare
    resource.prlimit(child.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
    return child.go_on()


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="the limits of a child, of Linux")
@pytest.mark.parametrize("spare", [0, 5_000, 20_000])
@pytest.mark.parametrize("point", AFTER_ACCEPTANCE)
def test_wherever_the_state_is_full_after_the_acceptance_the_answer_is_true(
    folder: Path, prepared: Prepared, point: str, spare: int
) -> None:
    """What is said to stay accepted is finished by whoever opens the vault; nothing else is."""
    call = prepared.calls["merge"]
    root = trials.copy(prepared.root, folder)
    answer = call_with_a_full_state(root, call, point, spare)
    message = answer.get("error", {}).get("message", "")
    if message:
        assert answer["error"]["code"] == "write_failed", answer
        assert "repeat the request" in message
    if "stays accepted" in message:
        assert "nothing was acknowledged" not in message and answer["error"]["data"]["request_id"]
    with trials.looking_at(root) as box:
        stands = ("knowledge_merge", call.arguments["requestId"], "published") in {
            row[:3] for row in trials.journal_of(box)
        }
        assert stands is (not message or "stays accepted" in message), message
        assert stands or box.files() == prepared.files
        again = trials.perform(box.ws, call)
        assert "error" not in again, again
        box.ws.outbox.drain()
        trials.check_whole(box)
        trials.check_git(box)
    shutil.rmtree(root)


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="the limits of a child, of Linux")
def test_a_conflict_that_cannot_be_written_down_is_said_to_stay_accepted(
    folder: Path, prepared: Prepared
) -> None:
    root = trials.copy(prepared.root, folder)
    edited = root / "main/pages/person/ada.md"

    def edit() -> None:
        edited.write_bytes(edited.read_bytes() + b"By hand.\n")

    answer = call_with_a_full_state(
        root, prepared.calls["change"], "install.temp-written:1", meanwhile=edit
    )
    assert answer["error"]["code"] == "write_failed", answer
    assert "It stays accepted" in answer["error"]["message"]
    assert edited.read_bytes().endswith(b"By hand.\n")
    with trials.looking_at(root) as box:
        again = trials.perform(box.ws, prepared.calls["change"])
        assert again["error"]["code"] == "conflict_blocked", again
        assert edited.read_bytes().endswith(b"By hand.\n")
    shutil.rmtree(root)


def test_what_was_accepted_is_not_given_up_where_the_disk_refuses_its_files_once_more(
    folder: Path, prepared: Prepared
) -> None:
    """The state can be written, and its file cannot."""
    root = trials.copy(prepared.root, folder)
    trials.crash(root, prepared.calls["create"], "accept.after")
    Database(root / ".vault-kg/state.sqlite").checkpoint()

    def write_another() -> dict[str, Any]:
        limited_to(len(LONG) - 1)
        ws = Workspace.open(root, clock=Clock())
        return trials.perform(ws, prepared.calls["change"])

    child = trials.fork(write_another)
    assert child.wait() == 0, child.said()
    message = child.result()["error"]["message"]
    assert "the accepted request 'n' could not be finished: the disk refuses" in message
    assert files_of(root) == prepared.files
    with trials.looking_at(root) as box:
        assert (root / "main/pages/company/new.md").read_text().count("A long text") == 4000
        trials.check_whole(box)
    shutil.rmtree(root)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of four megabytes, where this account may mount one."""
    place = tmp_path / "disk"
    place.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(place)], capture_output=True
    )
    if done.returncode != 0:
        pytest.skip("this account may not mount a file system")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.mark.parametrize("name", ["change", "create", "correct", "merge"])
def test_a_full_disk_takes_nothing_half(small_disk: Path, prepared: Prepared, name: str) -> None:
    call = prepared.calls[name]
    outcomes = set()
    for room in range(0, 1_100, 60):
        root = trials.copy(prepared.root, small_disk)
        filler = small_disk / "filler"

        def fill(room: int = room, filler: Path = filler) -> None:
            free = os.statvfs(small_disk)
            filler.write_bytes(b"\0" * max(0, free.f_bavail * free.f_bsize - room * 1024))

        get = Call("knowledge_get", {"id": prepared.claim})
        answer, read = try_in_trouble(root, call, fill, then=get)
        assert read.get("id") == prepared.claim, read
        filler.unlink()
        outcomes.add(check_afterwards(prepared, root, call, answer))
        shutil.rmtree(root)
    assert outcomes == {True, False}, "both were tried"


# No permission


@pytest.fixture
def owned(folder: Path, prepared: Prepared) -> Iterator[Path]:
    root = trials.copy(prepared.root, folder)
    give_to_nobody(root)
    yield root
    for path in [root, *root.rglob("*")]:
        path.chmod(0o755)
    shutil.rmtree(root)


def repeat_as_nobody(root: Path, call: Call) -> None:
    (again,) = as_nobody(root, [call])
    assert "error" not in again, again
    assert again["git"]["state"] == "committed"
    with trials.looking_at(root) as box:
        trials.check_whole(box)


@pytest.mark.parametrize("name", ["change", "merge"])
def test_a_read_only_folder_is_refused_and_named(
    prepared: Prepared, owned: Path, name: str
) -> None:
    """In a merge the first page's folder takes the file, and the second one's does not."""
    closed = owned / ("main/pages/person" if name == "change" else "main/pages/other")
    closed.chmod(0o555)
    call = prepared.calls[name]
    (answer,) = as_nobody(owned, [call])
    assert answer["error"]["code"] == "write_failed"
    assert f"(Permission denied) at {closed}" in answer["error"]["message"]
    assert files_of(owned) == prepared.files
    trials.check_no_stray(owned)
    closed.chmod(0o755)
    repeat_as_nobody(owned, call)


def test_where_the_vault_is_read_only_nothing_new_can_be_made(
    prepared: Prepared, owned: Path
) -> None:
    for closed in (owned / "main/pages", owned / "main", owned):
        closed.chmod(0o555)
    (answer,) = as_nobody(owned, [prepared.calls["create"]])
    assert answer["error"]["code"] == "write_failed"
    assert files_of(owned) == prepared.files
    for closed in (owned, owned / "main", owned / "main/pages"):
        closed.chmod(0o755)
    repeat_as_nobody(owned, prepared.calls["create"])


def test_a_read_only_file_in_a_writable_folder_is_replaced_and_keeps_its_mode(
    prepared: Prepared, owned: Path
) -> None:
    path = owned / "main/pages/person/ada.md"
    path.chmod(0o440)
    repeat_as_nobody(owned, prepared.calls["change"])
    assert path.stat().st_mode & 0o777 == 0o440


@pytest.mark.parametrize("mode", [0o600, 0o664, 0o755])
def test_a_replaced_file_keeps_mode_and_owner(folder: Path, prepared: Prepared, mode: int) -> None:
    root = trials.copy(prepared.root, folder)
    give_to_nobody(root)
    path = root / "main/pages/person/ada.md"
    path.chmod(mode)
    before = path.stat()
    old = os.umask(0o077)
    try:
        with trials.looking_at(root) as box:
            assert "error" not in trials.perform(box.ws, prepared.calls["change"])
    finally:
        os.umask(old)
    after = path.stat()
    assert (after.st_mode, after.st_uid, after.st_gid) == (
        before.st_mode, before.st_uid, before.st_gid,
    )  # fmt: skip
    shutil.rmtree(root)


def test_an_unreadable_file_is_left_alone_and_told_of(prepared: Prepared, owned: Path) -> None:
    path = owned / "main/pages/person/ada.md"
    path.chmod(0)
    read = Call("knowledge_get", {"id": prepared.augusta})
    calls = [Call(trials.SCAN), prepared.calls["change"], read, Call("knowledge_diagnostics", {})]
    scan, change, get, told = as_nobody(owned, calls)
    assert "error" not in scan and get["id"] == prepared.augusta
    (finding,) = [f for f in told["findings"] if f["code"] == "unreadable"]
    assert finding["message"] == "the file cannot be read: Permission denied"
    assert "error" in change
    path.chmod(0o644)
    assert files_of(owned) == prepared.files
    repeat_as_nobody(owned, prepared.calls["change"])


def test_a_private_folder_that_cannot_be_written_to_is_a_clear_refusal(
    prepared: Prepared, owned: Path
) -> None:
    private = owned / ".vault-kg"
    for name in ("lane.lock", "git.lock", "state.sqlite"):
        (private / name).chmod(0o444)
    private.chmod(0o555)
    answer = as_nobody(owned, [prepared.calls["change"]])
    if isinstance(answer, list):
        (answer,) = answer
    assert answer["error"]["code"] in ("write_failed", "unavailable"), answer
    assert str(private) in answer["error"]["message"]
    assert files_of(owned) == prepared.files
    private.chmod(0o755)
    for name in ("lane.lock", "git.lock", "state.sqlite"):
        (private / name).chmod(0o644)
    repeat_as_nobody(owned, prepared.calls["change"])


def test_a_private_folder_that_is_closed_while_the_vault_is_open_refuses_writes_and_reads_go_on(
    prepared: Prepared, owned: Path
) -> None:
    private = owned / ".vault-kg"

    def close() -> None:
        (owned / "main/pages/person/ada.md").write_bytes(b"edited meanwhile\n")
        for name in ("lane.lock", "git.lock"):
            (private / name).chmod(0)
        private.chmod(0o555)

    read = Call("knowledge_get", {"id": prepared.claim})
    change, get = as_nobody(owned, [prepared.calls["merge"], read], close)
    assert change["error"]["code"] == "write_failed", change
    assert get["id"] == prepared.claim


def test_a_file_bigger_than_a_record_may_be_is_attached_and_survives_a_crash(
    folder: Path, prepared: Prepared
) -> None:
    content = os.urandom(1 << 20) * 11
    outside = folder / "big.bin"
    outside.write_bytes(content)
    sha256 = hashlib.sha256(content).hexdigest()
    call = Call(
        "knowledge_attach_file", {"requestId": "b", "filePath": str(outside), "sha256": sha256}
    )
    for point in ("install.file-done:1", "install.all-done", "publish.inside"):
        root = trials.copy(prepared.root, folder)
        trials.crash(root, call, point)
        with trials.looking_at(root) as box:
            answer = trials.perform(box.ws, call)
            assert (root / answer["path"]).read_bytes() == content
            trials.check_whole(box)
            trials.check_git(box)
        shutil.rmtree(root)
