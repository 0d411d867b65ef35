"""Trying an operation on copies of a prepared vault, in children that can be ended at any step.

A child is forked from this process, which has imported everything, so that a trial costs
milliseconds. A prepared vault is closed: nothing of it is shared with a child but files.
"""

from __future__ import annotations

import atexit
import ctypes
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from tests.operations.builder import ANYBODY, Clock, VaultBox
from vault_kg.errors import VaultError
from vault_kg.operations import registry
from vault_kg.operations.workspace import Workspace
from vault_kg.store import failpoints, files

os.environ["VAULT_KG_EMBEDDING_MODEL"] = "off"

SCAN = "scan"
SLOWEST = 60.0
_numbers = itertools.count(1)


def fast_folder() -> Path:
    """A folder for many small vaults: in memory where there is such a place."""
    memory = Path("/dev/shm")
    inside = memory if os.access(memory, os.W_OK) else None
    return Path(tempfile.mkdtemp(prefix="vault-kg-trials-", dir=inside))


def opened(root: Path) -> VaultBox:
    """An existing vault with the words of a `VaultBox`; opening finishes what was accepted."""
    box = object.__new__(VaultBox)
    box.root, box.clock, box._source = root, Clock(), None
    box._numbers = itertools.count(1000 * next(_numbers))
    box.ws = Workspace.open(root, clock=box.clock)
    return box


@contextmanager
def looking_at(root: Path) -> Iterator[VaultBox]:
    box = opened(root)
    try:
        yield box
    finally:
        box.ws.close()


@dataclass(frozen=True)
class Call:
    """An operation with its arguments; or a scan."""

    operation: str
    arguments: dict[str, Any] = field(default_factory=dict)


def perform(ws: Workspace, call: Call) -> dict[str, Any]:
    """Carry a call out; a refusal is returned as `{"error": …}`."""
    try:
        if call.operation == SCAN:
            ws.scan()
            return {}
        return registry.call(ws, call.operation, call.arguments, ANYBODY)
    except VaultError as error:
        return {"error": error.to_dict()}


@dataclass
class Child:
    """A forked child at work."""

    pid: int
    answer: Path
    pause: Path

    def wait(self) -> int:
        """Wait for its end and return its exit code, negative for a signal."""
        deadline = time.monotonic() + SLOWEST
        while True:
            done, status = os.waitpid(self.pid, os.WNOHANG)
            if done:
                return os.waitstatus_to_exitcode(status)
            if time.monotonic() > deadline:
                os.kill(self.pid, signal.SIGKILL)
            time.sleep(0.0005)

    def wait_for_pause(self) -> None:
        deadline = time.monotonic() + SLOWEST
        while not Path(f"{self.pause}.reached").exists():
            assert time.monotonic() < deadline, "the child never came to the point"
            time.sleep(0.001)

    def go_on(self) -> dict[str, Any]:
        """Let a paused child go on to its end, and return its answer."""
        self.pause.touch()
        assert self.wait() == 0, self.said()
        return self.result()

    def result(self) -> dict[str, Any]:
        return json.loads(self.answer.read_text())

    def said(self) -> str:
        return self.answer.read_text() if self.answer.exists() else "nothing"


def fork(action: Callable[[], Any], failpoint: str | None = None) -> Child:
    """Start an action in a child; a `failpoint` is `name:n`, with `=pause` to wait there."""
    scratch = _scratch() / f"child-{next(_numbers)}"
    answer, pause = scratch.with_suffix(".answer"), scratch.with_suffix(".pause")
    pid = os.fork()
    if pid:
        return Child(pid, answer, pause)
    code = 1
    out = answer.open("w")  # before the action gives up the right to
    try:
        _end_with_parent()
        failpoints._reached.clear()
        if failpoint:
            armed = failpoint.replace("=pause", f"=pause:{pause}")
            os.environ[failpoints.ENVIRONMENT] = armed
        out.write(json.dumps(action()))
        code = 0
    except BaseException:  # noqa: BLE001 - a child must never go on as the tests
        out.write(traceback.format_exc())
    finally:
        out.flush()
        os._exit(code)


@cache
def _scratch() -> Path:
    folder = tempfile.TemporaryDirectory(prefix="vault-kg-children-")
    atexit.register(folder.cleanup)
    return Path(folder.name)


def _end_with_parent() -> None:
    """Have the system end this process when the tests end, however they end."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def start(root: Path, call: Call, failpoint: str | None = None) -> Child:
    """Start a call on a vault in a child."""

    def action() -> dict[str, Any]:
        ws = Workspace.open(root, clock=Clock())
        answer = perform(ws, call)
        ws.close()
        return answer

    return fork(action, failpoint)


def crash(root: Path, call: Call, failpoint: str) -> None:
    """Run a call in a child that ends hard at a point."""
    child = start(root, call, failpoint)
    code = child.wait()
    assert code == failpoints.EXIT_CODE, f"{failpoint} was not reached: {code} {child.said()}"


def points_of(root: Path, call: Call) -> list[str]:
    """The points that a call comes to, in order, the n-th time as `name:n`."""

    def action() -> list[str]:
        seen: list[str] = []
        failpoints._act = lambda name, armed: seen.append(name)
        os.environ[failpoints.ENVIRONMENT] = "every"
        ws = Workspace.open(root, clock=Clock())
        perform(ws, call)
        ws.close()
        return [f"{name}:{seen[: n + 1].count(name)}" for n, name in enumerate(seen)]

    child = fork(action)
    assert child.wait() == 0, child.said()
    return list(child.result())


def copy(template: Path, folder: Path) -> Path:
    """A copy of a closed vault."""
    target = folder / f"copy-{next(_numbers)}"
    shutil.copytree(template, target, symlinks=True)
    return target


# Another account

NOBODY = 65534


def give_to_nobody(root: Path) -> None:
    """Make a vault that of an account which is bound by permissions, as the superuser is not."""
    if os.geteuid() == 0:
        for path in [root, *root.rglob("*")]:
            os.chown(path, NOBODY, NOBODY, follow_symlinks=False)


def give_back(root: Path) -> None:
    if os.geteuid() == 0:
        for path in [root, *root.rglob("*")]:
            os.chown(path, 0, 0, follow_symlinks=False)


def become_nobody() -> None:
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        os.environ["HOME"] = "/nonexistent"


def as_nobody(root: Path, calls: list[Call], trouble: Callable[[], None] = lambda: None) -> Any:
    """Open and use a vault as that account; `trouble` comes once it is open."""

    def action() -> Any:
        become_nobody()
        try:
            ws = Workspace.open(root, clock=Clock())
        except VaultError as error:
            return {"error": error.to_dict()}
        trouble()
        return [perform(ws, call) for call in calls]

    child = fork(action)
    assert child.wait() == 0, child.said()
    return child.result()


# What stands


def state_of(box: VaultBox) -> dict[str, Any]:
    """Everything that must be wholly of before a request or wholly of after it."""
    rows = box.ws.database.rows
    return {
        "files": {path: text.decode("utf-8", "replace") for path, text in box.files().items()},
        "revision": rows(
            "SELECT record_id, revision, seq, kind, partition, path, hash, blob, lifecycle, at "
            "FROM revision ORDER BY 1, 2"
        ),
        "guard": rows("SELECT * FROM guard ORDER BY 1, 2"),
        "merge": rows("SELECT * FROM merge ORDER BY id"),
        "contribution": rows("SELECT * FROM merge_contribution ORDER BY 1, 2"),
        "conflict": rows("SELECT id, path, record_id, choice FROM conflict ORDER BY id"),
        "catalog": rows(
            "SELECT path, id, kind, partition, type, title, revision, hash, lifecycle, successor, "
            "valid, eligible FROM record ORDER BY path"
        ),
        "source": rows("SELECT id, path, sha256 FROM source ORDER BY id"),
        "edge": rows("SELECT path, via, target FROM edge JOIN record USING (key) ORDER BY 1, 2, 3"),
        "name": rows("SELECT path, name FROM name JOIN record USING (key) ORDER BY 1, 2"),
    }  # fmt: skip


def journal_of(box: VaultBox) -> list[tuple[Any, ...]]:
    return box.ws.database.rows(
        "SELECT operation, request_id, state, actor, reason FROM journal "
        "WHERE state <> 'abandoned' ORDER BY seq"
    )


def shape(state: dict[str, Any], known: str) -> Any:
    """A state without what differs from run to run: times, hashes, numbers and new ids."""
    text = json.dumps(state, sort_keys=True, default=str)
    text = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "TIME", text)
    text = re.sub(r"(?<![0-9a-z])(sha256:)?[0-9a-f]{64}|(?<![0-9a-z])[0-9a-f]{40}", "HASH", text)
    text = re.sub(
        r"(pg|cl|re)_[0-9a-z]{26}", lambda m: m[0] if m[0] in known else f"{m[1]}_NEW", text
    )
    decoded = json.loads(text)
    for name, rows in decoded.items():
        if isinstance(rows, list):
            decoded[name] = sorted(rows, key=json.dumps)
    return decoded


def without_git(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer without what may differ when a request is repeated."""
    answer = json.loads(json.dumps(answer))
    for part in (answer, answer.get("receipt") or {}):
        part.pop("git", None)
    return answer


# What must always hold


def check_whole(box: VaultBox) -> None:
    """Nothing accepted waits, nothing is left behind, and files are what the state says."""
    database = box.ws.database
    unfinished = database.rows(
        "SELECT request_id, state FROM journal WHERE state IN ('accepted', 'installing')"
    )
    assert unfinished == []
    check_no_stray(box.root)
    for record_id, revision, path, content_hash in database.rows(
        "SELECT record_id, max(revision), path, hash FROM revision GROUP BY record_id"
    ):
        found = database.value("SELECT hash FROM file WHERE path = ?", (path,))
        assert found in (None, content_hash), f"{record_id} {revision} {path}"
    assert database.value("PRAGMA integrity_check") == "ok"
    assert database.rows("PRAGMA foreign_key_check") == []


PRIVATE = {"vault.toml", ".gitignore", "state.sqlite", "lane.lock", "git.lock", "tmp", "uploads"}


def check_no_stray(root: Path) -> None:
    private = root / ".vault-kg"
    names = {p.name.removesuffix("-wal").removesuffix("-shm") for p in private.iterdir()}
    assert names <= PRIVATE, f"left behind: {names - PRIVATE}"
    for folder in ("tmp", "uploads"):
        left = list((private / folder).iterdir()) if (private / folder).is_dir() else []
        assert left == [], f"left behind: {left}"
    strange = [p for p in root.rglob("*") if re.search(r"\.(part|aside|kept-\d+|lost)$", p.name)]
    assert strange == [], f"left behind: {strange}"


def check_git(box: VaultBox, untracked: frozenset[str] = frozenset()) -> None:
    """Git holds every published entry in order, and the working tree is clean.

    Each is told by a commit of ours once, or is an edit that a person committed.
    """
    database = box.ws.database
    assert database.rows("SELECT seq FROM git_outbox") == [], "Git has not caught up"
    log = box.git("log", "--reverse", "--format=%H %(trailers:key=Vault-Seq,valueonly)")
    told = [line.split() for line in log.splitlines() if " " in line.strip()]
    committed = database.rows(
        "SELECT commit_id, seq FROM journal WHERE commit_id IS NOT NULL ORDER BY seq"
    )
    ours = [(c, int(s)) for c, s in told]
    assert ours == [pair for pair in committed if pair in ours]
    for commit, seq in set(committed) - set(ours):
        assert_holds_edit(box, commit, seq)
    queued = database.rows(
        "SELECT seq FROM journal WHERE state = 'published' AND seq IN "
        "(SELECT seq FROM journal_file) ORDER BY seq"
    )
    assert {seq for (seq,) in queued} <= {seq for _, seq in committed}
    status = box.git("status", "--porcelain", "--untracked-files=all").splitlines()
    assert {line for line in status if line[3:] not in untracked} == set()
    subprocess.run(
        ["git", "fsck", "--strict", "--no-dangling"], cwd=box.root, capture_output=True, check=True
    )
    blobs = {blob for (blob,) in database.rows("SELECT blob FROM revision")}
    listed = subprocess.run(
        ["git", "cat-file", "--batch-check"], cwd=box.root, capture_output=True, check=True,
        input="\n".join(blobs), text=True,
    ).stdout  # fmt: skip
    assert "missing" not in listed


def assert_holds_edit(box: VaultBox, commit: str, seq: int) -> None:
    """A commit that is not ours has exactly what an edit saw."""
    (operation,) = box.ws.database.row("SELECT operation FROM journal WHERE seq = ?", (seq,))
    assert operation == "observe", seq
    for path, _, digest in box.ws.database.rows(
        "SELECT path, record_id, after_hash FROM journal_file WHERE seq = ?", (seq,)
    ):
        content = box.ws.history.read_file(commit, path)
        assert (files.content_hash(content) if content is not None else None) == digest, path
