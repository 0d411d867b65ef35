from __future__ import annotations

import os
import subprocess
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from vault_kg.store.git import CommitRequest, FileSnapshot, History
from vault_kg.store.git_index_file import IndexFile

PERSON = ("-c", "user.name=Person", "-c", "user.email=person@example.org")


def git(root: Path, *arguments: str, text: bool = True):
    done = subprocess.run(["git", *PERSON, *arguments], cwd=root, capture_output=True, text=text)
    assert done.returncode == 0, done.stderr
    return done.stdout


def put(root: Path, path: str, content: bytes) -> FileSnapshot:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_bytes(content)
    return FileSnapshot(path, content)


def request(*files: FileSnapshot) -> CommitRequest:
    return CommitRequest(files, "save", "Ada", "ada@example.org", datetime.now(UTC))


KINDS = {
    "plain": [],
    "version 3": [("add", "--intent-to-add", "intent.md")],
    "version 4": [("update-index", "--index-version", "4")],
    "untracked cache": [("update-index", "--untracked-cache"), ("status",)],
    "split": [("update-index", "--split-index")],
    "without checksum": [("config", "index.skipHash", "true")],
    "cached trees": [("read-tree", "HEAD"), ("update-index", "--refresh")],
}


of_every_kind = pytest.mark.parametrize("vault", KINDS, indirect=True)


@pytest.fixture
def vault(request, tmp_path: Path) -> Path:
    kind = getattr(request, "param", "plain")
    root = tmp_path / "vault"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    for name in ("a.md", "b.md", "dir/c.md", "dir/sub/d.md", "dir.md", "dir0.md"):
        put(root, name, name.encode())
    git(root, "add", "-A")
    git(root, "commit", "-qm", "person")
    if kind == "version 3":
        put(root, "intent.md", b"meant to be added")
    for arguments in KINDS[kind]:
        git(root, *arguments)
    return root


@pytest.fixture
def history(vault: Path):
    with History(vault) as opened:
        yield opened


def status(root: Path) -> list[str]:
    return [x for x in git(root, "status", "--porcelain").splitlines() if "intent.md" not in x]


def assert_sound(root: Path) -> None:
    """The index can be read, holds what it should, and its cached trees are right."""
    git(root, "fsck", "--strict")
    before = git(root, "ls-files", "--stage")
    tree = git(root, "write-tree").strip()
    (root / ".git" / "index").rename(root / ".git" / "index.kept")
    git(root, "read-tree", tree)
    rebuilt = git(root, "ls-files", "--stage")
    (root / ".git" / "index.kept").rename(root / ".git" / "index")
    assert [x for x in before.splitlines() if "intent.md" not in x] == rebuilt.splitlines()


@of_every_kind
def test_changed_new_and_removed_files_leave_a_clean_status(vault, history):
    (vault / "b.md").unlink()
    history.commit(
        [
            request(
                put(vault, "a.md", b"2"),
                put(vault, "dir/sub/new.md", b"2"),
                put(vault, "first/new.md", b"2"),
                FileSnapshot("b.md", None),
            )
        ]
    )
    assert status(vault) == []
    assert_sound(vault)
    assert status(vault) == []


def test_many_commits_one_after_another_leave_a_clean_status(vault, history):
    for number in range(12):
        history.commit([request(put(vault, f"dir/n{number % 5}.md", b"%d" % number))])
        assert status(vault) == []
    assert_sound(vault)


def test_an_index_as_it_was_left_is_not_read_again_and_a_changed_one_is(
    vault, history, monkeypatch
):
    read: list[int] = []
    parse = IndexFile.__init__

    def counted(self, data, *more):
        read.append(len(data))
        parse(self, data, *more)

    monkeypatch.setattr(IndexFile, "__init__", counted)
    for number in range(4):
        history.commit([request(put(vault, f"dir/n{number}.md", b"%d" % number))])
    assert len(read) == 1
    (vault / "staged.md").write_bytes(b"of the person")
    git(vault, "add", "staged.md")
    for number in range(3):
        history.commit([request(put(vault, f"dir/n{number}.md", b"again %d" % number))])
    assert len(read) == 2
    assert status(vault) == ["A  staged.md"]
    assert_sound(vault)


@of_every_kind
def test_what_the_person_staged_stays_staged(vault, history):
    put(vault, "b.md", b"staged change")
    put(vault, "brand-new.md", b"staged file")
    git(vault, "add", "b.md", "brand-new.md")
    git(vault, "rm", "-q", "--cached", "dir/c.md")
    before = set(git(vault, "diff", "--cached", "--raw").splitlines())
    history.commit([request(put(vault, "a.md", b"2"), put(vault, "other.md", b"2"))])
    assert set(git(vault, "diff", "--cached", "--raw").splitlines()) == before
    git(vault, "commit", "-qm", "what was staged")
    assert git(vault, "show", "HEAD:b.md") == "staged change"
    assert git(vault, "show", "HEAD:a.md") == "2"


@of_every_kind
def test_the_same_path_staged_otherwise_stays_as_staged(vault, history):
    put(vault, "a.md", b"staged")
    git(vault, "add", "a.md")
    history.commit([request(put(vault, "a.md", b"ours"))])
    assert git(vault, "show", ":a.md") == "staged"
    assert git(vault, "show", "HEAD:a.md") == "ours"
    put(vault, "new.md", b"staged")
    git(vault, "add", "new.md")
    history.commit([request(put(vault, "new.md", b"ours"))])
    assert git(vault, "show", ":new.md") == "staged"
    git(vault, "rm", "-q", "--cached", "b.md")
    history.commit([request(put(vault, "b.md", b"ours"))])
    assert "b.md" not in git(vault, "ls-files").split()


def test_the_same_path_staged_alike_is_simply_committed(vault, history):
    file = put(vault, "a.md", b"2")
    git(vault, "add", "a.md")
    history.commit([request(file)])
    assert status(vault) == []


@of_every_kind
def test_a_file_staged_where_a_folder_comes_stays_staged(vault, history):
    put(vault, "thing", b"staged file")
    git(vault, "add", "thing")
    (vault / "thing").unlink()
    history.commit([request(put(vault, "thing/inside.md", b"ours"))])
    assert git(vault, "ls-files", "thing").split() == ["thing"]
    assert git(vault, "show", ":thing") == "staged file"
    put(vault, "pile/x.md", b"staged")
    git(vault, "add", "pile/x.md")
    (vault / "pile/x.md").unlink()
    (vault / "pile").rmdir()
    history.commit([request(put(vault, "pile", b"ours"))])
    assert git(vault, "ls-files", "pile").split() == ["pile/x.md"]
    git(vault, "fsck", "--strict")


@of_every_kind
def test_a_conflict_in_the_index_is_left_to_the_person(vault, history):
    blob = git(vault, "rev-parse", ":a.md").strip()
    lines = "".join(f"100644 {blob} {stage}\ta.md\n" for stage in (1, 2, 3))
    lines = f"0 {'0' * 40}\ta.md\n" + lines
    subprocess.run(["git", "update-index", "--index-info"], input=lines.encode(), cwd=vault)
    before = git(vault, "ls-files", "--unmerged")
    history.commit([request(put(vault, "a.md", b"2"), put(vault, "b.md", b"2"))])
    assert git(vault, "ls-files", "--unmerged") == before
    assert git(vault, "show", ":b.md") == "2"


def test_an_edit_since_the_snapshot_shows_as_modified(vault, history):
    put(vault, "a.md", b"later edit")
    (vault / "b.md").unlink()
    history.commit([request(FileSnapshot("a.md", b"snapshot"), FileSnapshot("b.md", b"snapshot"))])
    assert status(vault) == [" M a.md", " D b.md"]
    assert git(vault, "diff", "--cached") == ""


@of_every_kind
def test_an_edit_in_the_same_instant_and_of_the_same_size_is_never_missed(vault, history):
    for number in range(10):
        history.commit([request(put(vault, "a.md", b"%04d" % number))])
        put(vault, "a.md", b"%04d" % (number + 5000))
        put(vault, "b.md", b"x.%02d" % number)
        assert status(vault) == [" M a.md", " M b.md"]


@of_every_kind
def test_an_unseen_edit_from_before_our_commit_is_not_hidden_by_it(vault, history):
    size = (vault / "b.md").stat().st_size
    put(vault, "b.md", b"X" * size)  # in the second in which Git wrote the index
    history.commit([request(put(vault, "a.md", b"2"))])
    time.sleep(1.1)
    history.commit([request(put(vault, "a.md", b"3"))])
    assert status(vault) == [" M b.md"]


def test_an_index_that_the_person_emptied_gets_only_what_is_new(vault, history):
    (vault / ".git" / "index").unlink()
    (vault / "intent.md").unlink(missing_ok=True)
    history.commit([request(put(vault, "a.md", b"2"), put(vault, "new.md", b"2"))])
    assert git(vault, "ls-files").split() == ["new.md"]


@of_every_kind
def test_the_mode_of_the_index_is_kept(vault, history):
    (vault / ".git" / "index").chmod(0o640)
    history.commit([request(put(vault, "a.md", b"2"))])
    assert (vault / ".git" / "index").stat().st_mode & 0o777 == 0o640


def test_nothing_of_ours_is_left_in_the_repository(vault, history):
    history.commit([request(put(vault, "a.md", b"2"))])
    assert list((vault / ".git" / "vault-kg").iterdir()) == []
    assert not (vault / ".git" / "index.lock").exists()


@of_every_kind
def test_a_lock_taken_during_the_commit_leaves_the_commit_and_owes_the_index(
    vault, history, monkeypatch
):
    history.commit([request(put(vault, "a.md", b"1"))])
    committer = history._existing().committer
    move, lock = committer._move, vault / ".git" / "index.lock"

    def move_then_lock(plan):
        lock.touch()
        return move(plan)

    monkeypatch.setattr(committer, "_move", move_then_lock)
    (commit,) = history.commit([request(put(vault, "a.md", b"2"), put(vault, "z.md", b"2"))])
    assert git(vault, "rev-parse", "HEAD").strip() == commit
    assert lock.exists()
    lock.unlink()
    monkeypatch.undo()
    assert status(vault) == ["MM a.md", "D  z.md", "?? z.md"]
    with History(vault) as next_process:
        assert next_process.commit([]) == []
    assert status(vault) == []
    assert_sound(vault)


def test_what_the_person_staged_while_it_was_owed_stays_staged(vault, history, monkeypatch):
    history.commit([request(put(vault, "a.md", b"1"), put(vault, "b.md", b"1"))])
    committer = history._existing().committer
    monkeypatch.setattr(committer._index, "settle", lambda *arguments: committer._index.release())
    history.commit([request(put(vault, "a.md", b"2"), put(vault, "b.md", b"2"))])
    monkeypatch.undo()
    put(vault, "a.md", b"person")
    git(vault, "add", "a.md")
    history.commit([])
    assert status(vault) == ["M  a.md"]


def test_an_index_changed_while_ours_was_made_is_not_overwritten(vault, history, monkeypatch):
    committer = history._existing().committer
    move = committer._move

    def move_then_stage(plan):
        put(vault, "person.md", b"staged meanwhile")
        git(vault, "add", "person.md")
        return move(plan)

    monkeypatch.setattr(committer, "_move", move_then_stage)
    history.commit([request(put(vault, "a.md", b"2"))])
    assert status(vault) == ["A  person.md"]
    assert_sound(vault)


def test_a_broken_index_stops_no_commit_and_is_left_as_it_is(vault, history):
    index = vault / ".git" / "index"
    index.write_bytes(b"DIRC" + b"\xff" * 40)
    (commit,) = history.commit([request(put(vault, "a.md", b"2"))])
    assert git(vault, "rev-parse", "HEAD").strip() == commit
    assert index.read_bytes() == b"DIRC" + b"\xff" * 40


def test_a_lock_that_is_not_ours_is_not_cleared(vault, history):
    own = vault / ".git" / "vault-kg"
    own.mkdir(exist_ok=True)
    (own / "index.abc").write_bytes(b"left behind")
    os.link(own / "index.abc", vault / ".git" / "index.lock")
    history.commit([request(put(vault, "a.md", b"2"))])  # a dead process of ours: cleared
    assert list(own.iterdir()) == []
    assert status(vault) == []
    (own / "index.abc").write_bytes(b"left behind")
    (vault / ".git" / "index.lock").write_bytes(b"left behind")
    with pytest.raises(Exception, match=r"index\.lock"):
        history.commit([request(put(vault, "a.md", b"3"))])
    assert (vault / ".git" / "index.lock").exists()
