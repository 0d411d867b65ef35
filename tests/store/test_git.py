from __future__ import annotations

import os
import subprocess
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from vault_kg.errors import InvalidArgument, NotFound, UnsafePath
from vault_kg.store.files import blob_id
from vault_kg.store.git import CommitRequest, FileSnapshot, GitPending, GitUnavailable, History

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


# --- a commit ---------------------------------------------------------------------------------


def test_the_first_commit_makes_a_repository_on_the_branch_main(vault, history):
    (commit,) = history.commit([request(put(vault, "main/pages/a.md", b"one\n"))])
    assert git(vault, "rev-parse", "HEAD").strip() == commit
    assert git(vault, "symbolic-ref", "HEAD").strip() == "refs/heads/main"
    assert git(vault, "show", "HEAD:main/pages/a.md") == "one\n"
    assert git(vault, "status", "--porcelain") == ""
    assert_sound(vault)


def test_each_request_is_one_commit_and_they_follow_in_order(vault, history):
    first = request(put(vault, "a.md", b"1\n"), subject="first")
    second = request(put(vault, "a.md", b"2\n"), put(vault, "b.md", b"2\n"), subject="second")
    third = request(put(vault, "b.md", b"3\n"), subject="third")
    ids = history.commit([first, second, third])
    assert git(vault, "log", "--reverse", "--format=%H %s").split("\n")[:3] == [
        f"{ids[0]} first",
        f"{ids[1]} second",
        f"{ids[2]} third",
    ]
    assert git(vault, "show", "--name-only", "--format=", ids[1]).split() == ["a.md", "b.md"]
    assert git(vault, "status", "--porcelain") == ""
    assert_sound(vault)


def test_a_file_without_content_is_removed_and_so_is_its_emptied_folder(vault, history):
    history.commit([request(put(vault, "main/x/a.md", b"1"), put(vault, "keep.md", b"1"))])
    (vault / "main/x/a.md").unlink()
    history.commit([request(FileSnapshot("main/x/a.md", None))])
    assert git(vault, "ls-tree", "-r", "--name-only", "HEAD").split() == ["keep.md"]
    assert git(vault, "status", "--porcelain") == ""
    assert_sound(vault)


def test_a_request_that_changes_nothing_gets_the_head_and_makes_no_commit(vault, history):
    (first,) = history.commit([request(put(vault, "a.md", b"1"))])
    again = request(FileSnapshot("a.md", b"1"), subject="the same", at=NOON + timedelta(hours=1))
    removal = request(FileSnapshot("not-there.md", None))
    assert history.commit([again, removal]) == [first, first]
    assert git(vault, "rev-list", "--count", "HEAD").strip() == "1"


def test_a_request_may_ask_for_a_commit_that_changes_nothing_to_keep_its_trailers(vault, history):
    history.commit([request(put(vault, "a.md", b"1"))])
    guard = request(
        FileSnapshot("a.md", b"1"),
        subject="edit",
        empty_subject="guard",
        trailers=[("Guard", "withdrawn pg_1")],
    )
    (commit,) = history.commit([guard])
    assert git(vault, "log", "--format=%s").splitlines() == ["guard", "save a page"]
    assert history.commit([guard]) == [commit]


def test_a_request_committed_before_is_recognised_by_its_trailers(vault, history):
    one = request(put(vault, "a.md", b"1"), trailers=[("Request", "r1")])
    two = request(put(vault, "a.md", b"2"), trailers=[("Request", "r2")])
    three = request(put(vault, "b.md", b"3"), trailers=[("Request", "r3")])
    made = history.commit([one, two])
    assert history.commit([one, two]) == made
    with History(vault) as another:
        assert another.commit([one, two, three])[:2] == made
    assert git(vault, "show", "HEAD:a.md") == "2"
    assert git(vault, "rev-list", "--count", "HEAD").strip() == "3"


def test_equal_requests_without_trailers_are_not_taken_for_one(vault, history):
    for content in (b"1", b"2", b"1"):
        history.commit([request(put(vault, "a.md", content))])
    assert git(vault, "rev-list", "--count", "HEAD").strip() == "3"
    assert git(vault, "show", "HEAD:a.md") == "1"


def test_no_requests_make_no_repository_and_no_commit(vault, history):
    assert history.commit([]) == []
    assert not (vault / ".git").exists()


def test_author_committer_time_and_trailers_are_those_given(vault, history):
    asked = request(
        put(vault, "a.md", b"1"),
        subject="withdraw a claim",
        body="It was wrong.\n\nSeen by Ada.",
        trailers=[("Vault-Kg-Request", "r-1"), ("Vault-Kg-Guard", "withdrawn cl_1")],
    )
    history.commit([asked])
    shown = git(vault, "log", "-1", "--format=%an|%ae|%at|%cn|%ce|%ct|%s|%(trailers:only)")
    assert shown.strip().split("|") == [
        "Ada",
        "ada@example.org",
        str(int(NOON.timestamp())),
        "vault-kg",
        "vault-kg@localhost",
        str(int(NOON.timestamp())),
        "withdraw a claim",
        "Vault-Kg-Request: r-1\nVault-Kg-Guard: withdrawn cl_1",
    ]


def test_no_identity_of_the_person_is_needed(vault, history, monkeypatch):
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("HOME", str(vault / "nowhere"))
    history.commit([request(put(vault, "a.md", b"1"))])
    assert_sound(vault)


def test_a_header_cannot_be_injected(vault, history):
    evil = request(
        put(vault, "a.md", b"1"),
        author_name="Eve <eve@x> 1 +0000\ncommitter Eve",
        author_email="e@x>\nparent 0",
        subject="one\n\nGuard: two\0three",
        body="text\0\r\n\r\nGuard: withdrawn everything",
    )
    history.commit([evil])
    assert_sound(vault)
    raw = git(vault, "cat-file", "commit", "HEAD")
    assert raw.count("committer ") == 2  # the header, and the name of the author
    assert git(vault, "log", "-1", "--format=%cn|%(trailers)").strip() == "vault-kg|"
    assert next(history.log_with_trailers()).trailers == []


@pytest.mark.parametrize("value", ["a\nb", "a\rb", "a\0b"])
def test_a_trailer_of_several_lines_is_refused(vault, history, value):
    with pytest.raises(InvalidArgument):
        history.commit([request(put(vault, "a.md", b"1"), trailers=[("Reason", value)])])


@pytest.mark.parametrize(
    "path",
    ["../out.md", "/abs.md", "a//b.md", "a/./b.md", ".git/config", "x/.GIT/hooks/y", "a/.git ./b"],
)
def test_a_path_that_a_git_tree_must_not_hold_is_refused(vault, history, path):
    with pytest.raises(UnsafePath):
        history.commit([request(FileSnapshot(path, b"1"))])


@pytest.mark.parametrize(
    "path",
    [
        "main/pages/Person/Ada Lovelace.md",
        "main/\"quoted\" 'name'.md",
        "main/line\nbreak\ttab.md",
        "main/双向链接/标题.md",
        "main/مرحبا/😀.md",
        "-rf.md",
        ":(top)x.md",
        "a*b?[c].md",
        "main/back\\slash.md",
        "x" * 255,
        "/".join(["deep"] * 40) + "/a.md",
    ],
)
def test_any_path_can_be_committed_and_read_back(vault, history, path):
    history.commit([request(put(vault, "first.md", b"0"))])
    (commit,) = history.commit([request(put(vault, path, b"1\n"))])
    assert git(vault, "status", "--porcelain") == ""
    assert history.read_file(commit, path) == b"1\n"
    assert path in dict(history.list_files(commit, suffix=""))
    (last,) = list(history.log_with_trailers(changes=True))[1:]
    assert [change.path for change in last.changes] == [path]
    (vault / path).unlink()
    history.commit([request(FileSnapshot(path, None))])
    assert git(vault, "status", "--porcelain") == ""
    assert_sound(vault)


def test_the_bytes_are_exact_whatever_they_are(vault, history):
    for number, content in enumerate(
        [b"", b"\xef\xbb\xbfa\r\nb\r\n", b"\0\xff\xfe", b"a" * 300_000]
    ):
        history.commit([request(put(vault, f"{number}.md", content))])
        assert history.read_file("HEAD", f"{number}.md") == content
        assert history.read_blob(blob_id(content)) == content
    assert git(vault, "status", "--porcelain") == ""


def test_ten_thousand_files_are_imported_in_seconds(vault, history):
    files = [
        put(vault, f"main/pages/T{n % 9}/a-title-{n}.md", b"%d\n" % n * 200) for n in range(10_000)
    ]
    started = time.monotonic()
    history.commit([request(*files)])
    assert time.monotonic() - started < 40
    assert git(vault, "status", "--porcelain") == ""
    assert len(history.list_files("HEAD")) == 10_000
    assert_sound(vault)


# --- files and folders of one name, and what stands elsewhere in the tree ----------------------


def test_a_folder_can_take_the_place_of_a_file_and_back(vault, history):
    history.commit([request(put(vault, "a", b"1"), put(vault, "b.md", b"1"))])
    (vault / "a").unlink()
    history.commit([request(put(vault, "a/x.md", b"2"), put(vault, "a/y.md", b"2"))])
    assert git(vault, "status", "--porcelain") == ""
    for name in ("a/x.md", "a/y.md"):
        (vault / name).unlink()
    (vault / "a").rmdir()
    history.commit([request(put(vault, "a", b"3"))])
    assert git(vault, "status", "--porcelain") == ""
    assert git(vault, "ls-tree", "-r", "--name-only", "HEAD").split() == ["a", "b.md"]
    assert_sound(vault)


def test_removing_a_file_and_filling_its_folder_may_come_in_one_request(vault, history):
    history.commit([request(put(vault, "a", b"1"))])
    (vault / "a").unlink()
    inside = put(vault, "a/b.md", b"2")
    history.commit([request(inside, FileSnapshot("a", None))])
    assert git(vault, "ls-tree", "-r", "--name-only", "HEAD").split() == ["a/b.md"]
    assert git(vault, "status", "--porcelain") == ""


def test_one_path_as_file_and_folder_in_one_request_is_refused(vault, history):
    for files in (("a", "a/b"), ("a/b", "a")):
        with pytest.raises(InvalidArgument):
            history.commit([request(*(FileSnapshot(path, b"1") for path in files))])


def test_submodules_links_and_executable_files_keep_their_entries(vault, history):
    git(vault, "init", "-q", "-b", "main")
    (vault / "run.sh").write_text("echo\n")
    (vault / "run.sh").chmod(0o755)
    (vault / "link").symlink_to("run.sh")
    put(vault, "dir/a.md", b"1")
    git(vault, "add", "-A")
    git(vault, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},dir/sub")
    git(vault, "commit", "-qm", "person")
    before = git(vault, "ls-tree", "-r", "HEAD")
    history.commit([request(put(vault, "dir/a.md", b"2"), put(vault, "dir/sub/inner.md", b"3"))])
    after = git(vault, "ls-tree", "-r", "HEAD")
    assert [x for x in after.splitlines() if x not in before] == [
        f"100644 blob {blob_id(b'2')}\tdir/a.md"
    ]
    assert len(after.splitlines()) == 4
    history.commit([request(put(vault, "run.sh", b"echo 2\n"))])
    assert "100755 blob" in git(vault, "ls-tree", "HEAD", "run.sh")
    assert_sound(vault)


def test_a_new_file_that_is_executable_is_committed_as_such_where_modes_count(vault, history):
    file = put(vault, "tool.md", b"1")
    (vault / "tool.md").chmod(0o755)
    history.commit([request(file)])
    assert git(vault, "status", "--porcelain") == ""
    git(vault, "config", "core.fileMode", "false")
    other = put(vault, "other.md", b"1")
    (vault / "other.md").chmod(0o755)
    history.commit([request(other)])
    assert "100644" in git(vault, "ls-tree", "HEAD", "other.md")


# --- not the moment, or not possible ----------------------------------------------------------


def pending(history: History, *files: FileSnapshot) -> str:
    with pytest.raises(GitPending) as refused:
        history.commit([request(*files)])
    assert refused.value.code == "busy"
    return refused.value.reason


def test_a_locked_index_is_pending_and_the_lock_is_left_alone(vault, history):
    history.commit([request(put(vault, "a.md", b"1"))])
    lock = vault / ".git" / "index.lock"
    lock.touch()
    file = put(vault, "a.md", b"2")
    assert pending(history, file) == "index_locked"
    assert lock.exists()
    lock.unlink()
    history.commit([request(file)])
    assert git(vault, "status", "--porcelain") == ""


def test_a_lock_of_an_instant_is_waited_for(vault, history):
    history.commit([request(put(vault, "a.md", b"1"))])
    lock = vault / ".git" / "index.lock"
    lock.touch()
    threading.Timer(0.05, lock.unlink).start()
    history.commit([request(put(vault, "a.md", b"2"))])


def test_a_locked_branch_is_pending(vault, history):
    history.commit([request(put(vault, "a.md", b"1"))])
    lock = vault / ".git" / "refs" / "heads" / "main.lock"
    lock.touch()
    file = put(vault, "a.md", b"2")
    with pytest.raises(GitPending) as refused:
        history.commit([request(file)])
    assert refused.value.reason == "ref_locked"
    assert lock.exists()
    lock.unlink()
    history.commit([request(file)])
    assert git(vault, "status", "--porcelain") == ""


def test_a_detached_head_is_pending_until_a_branch_is_checked_out(vault, history):
    history.commit([request(put(vault, "a.md", b"1"))])
    git(vault, "checkout", "-q", "--detach")
    file = put(vault, "a.md", b"2")
    assert pending(history, file) == "detached_head"
    git(vault, "checkout", "-q", "main")
    history.commit([request(file)])
    assert git(vault, "show", "main:a.md") == "2"


def conflicting(vault: Path, history: History) -> None:
    history.commit([request(put(vault, "a.md", b"1\n"), put(vault, "c.md", b"1\n"))])
    git(vault, "checkout", "-qb", "other")
    put(vault, "a.md", b"other\n")
    git(vault, "commit", "-qam", "other")
    git(vault, "checkout", "-q", "main")
    put(vault, "a.md", b"main\n")
    git(vault, "commit", "-qam", "main")


@pytest.mark.parametrize(
    ("start", "end", "reason"),
    [
        (["merge", "other"], ["merge", "--abort"], "merge"),
        (["rebase", "other"], ["rebase", "--abort"], "rebase"),
        (["cherry-pick", "other"], ["cherry-pick", "--abort"], "cherry_pick"),
        (["revert", "other", "--no-edit"], ["revert", "--abort"], "revert"),
    ],
)
def test_an_operation_in_progress_is_pending_until_it_ends(vault, history, start, end, reason):
    conflicting(vault, history)
    git(vault, *start, check=False)
    file = put(vault, "c.md", b"2\n")
    staged = git(vault, "ls-files", "--stage")
    assert pending(history, file) == reason
    assert git(vault, "ls-files", "--stage") == staged
    git(vault, "checkout", "-q", "--", "c.md")
    git(vault, *end)
    history.commit([request(put(vault, "c.md", b"2\n"))])
    assert git(vault, "status", "--porcelain") == ""


def test_a_bisection_is_pending(vault, history):
    conflicting(vault, history)
    git(vault, "bisect", "start")
    assert pending(history, put(vault, "c.md", b"2\n")) == "bisect"


def test_git_missing_is_said_by_everything(vault, history, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(GitUnavailable) as refused:
        history.commit([request(put(vault, "a.md", b"1"))])
    assert refused.value.reason == "git_missing"
    assert "git is not installed" in refused.value.message


def test_git_missing_is_said_by_every_question_about_an_old_repository(
    vault, history, monkeypatch, tmp_path
):
    history.commit([request(put(vault, "a.md", b"1"))])
    monkeypatch.setenv("PATH", str(tmp_path))
    with History(vault) as other:
        for ask in (
            lambda: other.resolve("HEAD"),
            lambda: other.read_file("HEAD", "a.md"),
            lambda: other.read_blob("0" * 40),
            lambda: other.list_files("HEAD"),
            lambda: list(other.log_with_trailers()),
        ):
            with pytest.raises(GitUnavailable, match="git is not installed"):
                ask()


def as_nobody(action) -> str:
    """Run something in a child that may write only where everybody may; return what it returns."""
    readable, writable = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
            os.write(writable, action().encode())
        finally:
            os._exit(0)
    os.close(writable)
    with os.fdopen(readable) as result:
        answer = result.read()
    os.waitpid(child, 0)
    return answer


@pytest.mark.skipif(os.name != "posix", reason="needs permissions of POSIX")
@pytest.mark.parametrize("closed", ["objects", "refs/heads", ".", "absent"])
def test_a_repository_that_may_not_be_written_to_is_unavailable(
    vault, history, tmp_path, monkeypatch, closed
):
    config = tmp_path / "gitconfig"
    config.write_text("[safe]\n\tdirectory = *\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    (vault / "a.md").write_bytes(b"1")
    if closed != "absent":
        history.commit([request(put(vault, "a.md", b"1"))])
    if os.geteuid() == 0:
        for place in (tmp_path, tmp_path.parent, tmp_path.parent.parent):
            place.chmod(0o755)
    top = vault if closed == "absent" else vault / ".git"
    for place in [top, *top.rglob("*")]:
        place.chmod(0o777 if place.is_dir() else 0o666)
    shut = vault if closed == "absent" else vault / ".git" / closed
    for place in [shut, *shut.rglob("*")]:
        place.chmod(0o555 if place.is_dir() else 0o444)

    def commit() -> str:
        try:
            with History(vault) as other:
                other.commit([request(FileSnapshot("a.md", b"2"))])
        except GitUnavailable as refused:
            return refused.reason
        return "committed"

    assert as_nobody(commit) == "no_permission"
    for place in [shut, *shut.rglob("*")]:
        place.chmod(0o777 if place.is_dir() else 0o666)
    if closed != "absent":
        history.commit([request(put(vault, "a.md", b"2"))])
        assert git(vault, "status", "--porcelain") == ""


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="needs to give files away")
def test_a_repository_of_another_user_is_unavailable_unless_declared_safe(
    vault, history, tmp_path, monkeypatch
):
    history.commit([request(put(vault, "a.md", b"1"))])
    for place in [vault, *vault.rglob("*")]:
        os.chown(place, 65533, 65533)
    monkeypatch.delenv("SUDO_UID", raising=False)
    config = tmp_path / "gitconfig"
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    with History(vault) as other, pytest.raises(GitUnavailable) as refused:
        other.commit([request(put(vault, "a.md", b"2"))])
    assert refused.value.reason == "not_owned"
    assert "ownership" in refused.value.message
    config.write_text(f"[safe]\n\tdirectory = {vault}\n")
    with History(vault) as other:
        other.commit([request(put(vault, "a.md", b"2"))])
    config.unlink()
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "safe.directory")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", str(vault))
    with History(vault) as other:
        other.commit([request(put(vault, "a.md", b"3"))])


def test_a_repository_put_in_the_place_of_another_is_found_anew(vault, history):
    (first,) = history.commit([request(put(vault, "a.md", b"1"))])
    (vault / ".git").rename(vault.parent / "old.git")
    assert history.resolve("HEAD") is None
    git(vault, "init", "-q", "-b", "trunk")
    (second,) = history.commit([request(put(vault, "a.md", b"2"))])
    assert history.resolve(first) is None
    assert git(vault, "rev-parse", "trunk").strip() == second


def test_a_closed_history_answers_again(vault, history):
    history.commit([request(put(vault, "a.md", b"1"))])
    history.close()
    assert history.read_file("HEAD", "a.md") == b"1"


def test_reading_where_there_is_no_repository_finds_nothing(vault, history):
    assert history.resolve("HEAD") is None
    assert list(history.log_with_trailers()) == []
    with pytest.raises(NotFound):
        history.read_file("HEAD", "a.md")


def test_many_loose_objects_are_packed_and_nothing_is_lost(vault, history):
    history.commit([request(put(vault, "a.md", b"1"))])
    assert not history.tidy()
    for number in range(28):
        (vault / ".git/objects/17").mkdir(exist_ok=True)
        oid = "0" * 36 + f"{number:02d}"
        (vault / ".git/objects/17" / oid).write_bytes(b"")
    assert history.tidy()
    for left in (vault / ".git/objects/17").iterdir():
        left.unlink()
    assert history.read_file("HEAD", "a.md") == b"1"
    (commit,) = history.commit([request(put(vault, "a.md", b"2"))])
    assert history.read_file(commit, "a.md") == b"2"
    assert_sound(vault)
