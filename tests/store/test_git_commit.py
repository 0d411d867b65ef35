from __future__ import annotations

import os
import subprocess
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

from vault_kg.store.files import blob_id
from vault_kg.store.git import CommitRequest, FileSnapshot, GitPending, History

NOON = datetime(2026, 1, 5, 12, 0, tzinfo=UTC)
PERSON = ("-c", "user.name=Person", "-c", "user.email=person@example.org")


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    root = tmp_path / "vault"
    root.mkdir()
    return root


@pytest.fixture
def history(vault: Path):
    with History(vault) as opened:
        yield opened


def git(root: Path, *arguments: str, check: bool = True, **options) -> str:
    done = subprocess.run(
        ["git", *PERSON, *arguments], cwd=root, capture_output=True, text=True, **options
    )
    if check:
        assert done.returncode == 0, done.stderr
    return done.stdout


def put(root: Path, path: str, content: bytes) -> FileSnapshot:
    target = root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)
    return FileSnapshot(path, content)


def request(*files: FileSnapshot, **changes) -> CommitRequest:
    given = {
        "files": files,
        "subject": "save a page",
        "author_name": "Ada",
        "author_email": "ada@example.org",
        "at": NOON,
    }
    return CommitRequest(**{**given, **changes})


def assert_sound(root: Path) -> None:
    checked = subprocess.run(
        ["git", "fsck", "--strict", "--no-dangling"], cwd=root, capture_output=True, text=True
    )
    assert (checked.returncode, checked.stdout) == (0, ""), checked.stdout + checked.stderr


def test_a_commit_that_a_person_makes_meanwhile_is_built_upon(vault, history, monkeypatch):
    history.commit([request(put(vault, "a.md", b"1"))])
    committer = history._existing().committer
    plan = committer._plan
    hurried: list[str] = []

    def plan_then_person(requests):
        made = plan(requests)
        if not hurried:
            put(vault, "mine.md", b"person")
            git(vault, "add", "mine.md")
            git(vault, "commit", "-qm", "person")
            hurried.append(git(vault, "rev-parse", "HEAD").strip())
        return made

    monkeypatch.setattr(committer, "_plan", plan_then_person)
    (commit,) = history.commit([request(put(vault, "a.md", b"2"))])
    assert git(vault, "rev-parse", f"{commit}^").strip() == hurried[0]
    assert git(vault, "ls-tree", "-r", "--name-only", "HEAD").split() == ["a.md", "mine.md"]
    assert git(vault, "status", "--porcelain") == ""


def test_a_branch_that_never_rests_is_pending(vault, history, monkeypatch):
    history.commit([request(put(vault, "a.md", b"1"))])
    committer = history._existing().committer
    plan = committer._plan

    def plan_then_person(requests):
        made = plan(requests)
        git(vault, "commit", "-qm", "person", "--allow-empty")
        return made

    monkeypatch.setattr(committer, "_plan", plan_then_person)
    with pytest.raises(GitPending) as refused:
        history.commit([request(put(vault, "a.md", b"2"))])
    assert refused.value.reason == "ref_moved"
    monkeypatch.undo()
    history.commit([request(put(vault, "a.md", b"2"))])
    assert git(vault, "status", "--porcelain") == ""


WRITER = """
import sys
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path
from filelock import FileLock
from vault_kg.store.git import CommitRequest, FileSnapshot, GitPending, History
root, name, locked = Path(sys.argv[1]), sys.argv[2], sys.argv[3] == "locked"
lane = FileLock(root.parent / "lane") if locked else nullcontext()
with History(root) as history:
    for n in range(4):
        path, content = f"main/{name}/{n}.md", f"{name} {n}".encode()
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content)
        asked = CommitRequest([FileSnapshot(path, content)], f"{name} {n}", name, "w@x",
                              datetime.now(UTC), trailers=[("Request", f"{name}-{n}")])
        while True:
            try:
                with lane:
                    history.commit([asked])
                break
            except GitPending:
                pass
"""


@pytest.mark.parametrize("locked", ["locked", "unlocked"])
def test_eight_processes_lose_no_commit(vault, history, locked):
    history.commit([request(put(vault, "a.md", b"1"))])
    repository = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": str(repository)}
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, vault, f"w{n}", locked], env=environment)
        for n in range(8)
    ]
    assert [writer.wait(60) for writer in writers] == [0] * 8
    subjects = git(vault, "log", "--reverse", "--format=%s").split("\n")[1:-1]
    assert sorted(subjects) == sorted(f"w{w} {n}" for w in range(8) for n in range(4))
    for number in range(8):
        own = [subject for subject in subjects if subject.startswith(f"w{number} ")]
        assert own == sorted(own)
    if locked == "unlocked":
        history.commit([])  # what a crowd left owing is settled with the next commit
    assert git(vault, "status", "--porcelain") == ""
    assert_sound(vault)


def test_threads_may_read_while_another_commits(vault, history):
    history.commit([request(put(vault, "a.md", b"0"))])
    failures: list[BaseException] = []

    def read() -> None:
        try:
            for _ in range(100):
                assert history.read_file("HEAD", "a.md") is not None
        except BaseException as failure:  # noqa: BLE001 - whatever it is, the test must see it
            failures.append(failure)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for number in range(1, 15):
        history.commit([request(put(vault, "a.md", b"%d" % number))])
    for reader in readers:
        reader.join()
    assert failures == []


DYING = """
import os, signal, sys
from datetime import UTC, datetime
from pathlib import Path
from vault_kg.store import {module} as module
from vault_kg.store.git import CommitRequest, FileSnapshot, History
def die(*arguments, **options):
    os.kill(os.getpid(), signal.SIGKILL)
original = getattr(module.{owner}, "{method}")
def after(*arguments, **options):
    original(*arguments, **options)
    die()
setattr(module.{owner}, "{method}", after if {late} else die)
at = datetime(2026, 1, 5, 12, tzinfo=UTC)
files = [FileSnapshot("a.md", b"2"), FileSnapshot("new/b.md", b"2")]
asked = CommitRequest(files, "second", "Ada", "a@x", at, trailers=[("Request", "r2")])
History(Path(sys.argv[1])).commit([asked])
"""

STEPS = [
    ("git_index", "IndexKeeper", "owe", False),
    ("git_index", "IndexKeeper", "owe", True),
    ("git_objects", "StagedObjects", "write", False),
    ("git_objects", "StagedObjects", "write", True),
    ("git_index", "PreparedIndex", "write", True),
    ("git_process", "HeadMover", "move", False),
    ("git_process", "HeadMover", "move", True),
    ("git_index", "PreparedIndex", "_take_lock", True),
    ("git_index", "PreparedIndex", "install", True),
    ("git_index", "IndexKeeper", "settle", True),
]


@pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
@pytest.mark.parametrize(("module", "owner", "method", "late"), STEPS)
def test_killed_at_any_step_the_same_request_gives_one_commit_and_a_clean_tree(
    vault, history, module, owner, method, late
):
    history.commit([request(put(vault, "a.md", b"1"))])
    a, b = put(vault, "a.md", b"2"), put(vault, "new/b.md", b"2")
    script = DYING.format(module=module, owner=owner, method=method, late=late)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    died = subprocess.run([sys.executable, "-c", script, vault], env=environment)
    assert died.returncode == -9
    assert_sound(vault)
    asked = request(a, b, subject="second", author_email="a@x", trailers=[("Request", "r2")])
    with History(vault) as next_process:
        (commit,) = next_process.commit([asked])
    assert git(vault, "rev-list", "--count", "HEAD").strip() == "2"
    assert git(vault, "rev-parse", "HEAD").strip() == commit
    assert git(vault, "status", "--porcelain") == ""
    assert list((vault / ".git" / "vault-kg").glob("owed.*")) == []
    assert_sound(vault)


def test_an_object_left_empty_by_a_power_cut_is_healed_by_the_repetition(vault, history):
    history.commit([request(put(vault, "a.md", b"1"))])
    oid = blob_id(b"2")
    broken = vault / ".git" / "objects" / oid[:2] / oid[2:]
    broken.parent.mkdir(exist_ok=True)
    broken.touch(0o444)
    history.commit([request(put(vault, "a.md", b"2"))])
    assert_sound(vault)
