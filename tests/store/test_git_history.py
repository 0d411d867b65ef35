from __future__ import annotations

import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from vault_kg.errors import NotFound
from vault_kg.store.files import blob_id
from vault_kg.store.git import CommitRequest, FileChange, FileSnapshot, History

PERSON = ("-c", "user.name=Person", "-c", "user.email=person@example.org")
NOON = datetime(2026, 1, 5, 12, 0, tzinfo=UTC)


def git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *PERSON, *arguments], cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def history(tmp_path: Path):
    with History(tmp_path) as opened:
        yield opened


@pytest.fixture
def ids(tmp_path: Path, history: History) -> list[str]:
    """Five commits, a minute apart."""
    steps = [
        {"main/pages/a.md": b"a1", "main/pages/b.txt": b"b1", "top.md": b"t1"},
        {"main/pages/a.md": b"a2"},
        {"main/pages/sub/c.md": b"c3", "main-other.md": b"o3"},
        {"main/pages/a.md": None},
        {"top.md": b"t5"},
    ]
    return history.commit(
        [
            CommitRequest(
                [FileSnapshot(path, content) for path, content in files.items()],
                f"step {number}",
                "Ada",
                "ada@example.org",
                NOON + timedelta(minutes=number),
                trailers=[("Request", f"r{number}"), ("Guard", "a: b: c")],
            )
            for number, files in enumerate(steps, 1)
        ]
    )


def test_a_file_is_read_as_each_commit_has_it(history, ids):
    read = [history.read_file(commit, "main/pages/a.md") for commit in ids]
    assert read == [b"a1", b"a2", b"a2", None, None]


def test_what_is_no_regular_file_is_not_read(tmp_path, history, ids):
    (tmp_path / "link.md").symlink_to("top.md")
    git(tmp_path, "add", "link.md")
    git(tmp_path, "commit", "-qm", "link")
    assert history.read_file("HEAD", "link.md") is None
    assert history.read_file("HEAD", "main/pages") is None
    assert history.read_file("HEAD", "main/pages/b.txt/x") is None
    assert history.read_file("HEAD", "") is None
    assert "link.md" not in dict(history.list_files("HEAD"))


def test_a_blob_is_read_by_its_id(history, ids):
    assert history.read_blob(blob_id(b"a1")) == b"a1"
    for oid in ("0" * 40, ids[0], "HEAD", "--help", "", "0" * 39 + "\n"):
        with pytest.raises(NotFound):
            history.read_blob(oid)


def test_names_of_commits_are_resolved_and_nothing_else(tmp_path, history, ids):
    git(tmp_path, "tag", "v1", ids[1])
    git(tmp_path, "tag", "-am", "annotated", "v2", ids[2])
    git(tmp_path, "branch", "topic", ids[3])
    assert history.resolve("HEAD") == ids[4]
    assert history.resolve("main~2") == ids[2]
    assert history.resolve(ids[0]) == ids[0]
    assert history.resolve(ids[0][:12]) == ids[0]
    assert [history.resolve(name) for name in ("v1", "v2", "topic")] == ids[1:4]


@pytest.mark.parametrize(
    "name",
    [
        "",
        "nothing",
        "-h",
        "--all",
        "--output=x",
        "HEAD:top.md",
        ":/step",
        "HEAD\nHEAD",
        "\0",
        "^HEAD",
    ],
)
def test_a_name_that_is_no_commit_resolves_to_nothing(tmp_path, history, ids, name):
    assert history.resolve(name) is None
    assert not (tmp_path / "x").exists()


def test_an_ambiguous_abbreviation_resolves_to_nothing(history, ids):
    assert history.resolve(ids[0][:1]) is None


def test_files_are_listed_with_their_blobs(history, ids):
    listed = dict(history.list_files(ids[2]))
    assert listed == {
        "main-other.md": blob_id(b"o3"),
        "main/pages/a.md": blob_id(b"a2"),
        "main/pages/sub/c.md": blob_id(b"c3"),
        "top.md": blob_id(b"t1"),
    }


@pytest.mark.parametrize(
    ("prefix", "suffix", "expected"),
    [
        ("main/", ".md", ["main/pages/a.md", "main/pages/sub/c.md"]),
        ("main", ".md", ["main-other.md", "main/pages/a.md", "main/pages/sub/c.md"]),
        ("main/pages/s", ".md", ["main/pages/sub/c.md"]),
        ("main/pages/", "", ["main/pages/a.md", "main/pages/b.txt", "main/pages/sub/c.md"]),
        ("nowhere/", "", []),
        ("top.md/", "", []),
        ("--help", "", []),
    ],
)
def test_files_are_listed_by_beginning_and_end(history, ids, prefix, suffix, expected):
    assert sorted(path for path, _ in history.list_files(ids[2], prefix, suffix)) == expected


def test_a_commit_that_is_not_there_is_named(history, ids):
    for ask in (
        lambda: history.read_file("nothing", "a.md"),
        lambda: history.list_files("nothing"),
        lambda: list(history.log_with_trailers(after="nothing")),
    ):
        with pytest.raises(NotFound, match="nothing"):
            ask()


def test_the_log_goes_from_the_oldest_and_says_what_each_commit_says(history, ids):
    log = list(history.log_with_trailers())
    assert [commit.id for commit in log] == ids
    assert [commit.subject for commit in log] == [f"step {n}" for n in range(1, 6)]
    assert log[2].trailers == [("Request", "r3"), ("Guard", "a: b: c")]
    assert log[2].at == NOON + timedelta(minutes=3)
    assert log[2].author == ("Ada", "ada@example.org")
    assert log[2].committer == ("vault-kg", "vault-kg@localhost")
    assert log[2].parents == (ids[1],)
    assert log[2].changes == ()


def test_the_log_tells_the_files_that_changed_when_asked(history, ids):
    log = list(history.log_with_trailers(changes=True))
    assert [commit.id for commit in log] == ids
    assert log[1].changes == (FileChange("main/pages/a.md", blob_id(b"a2")),)
    assert log[3].changes == (FileChange("main/pages/a.md", None),)
    assert [change.path for change in log[0].changes] == [
        "main/pages/a.md",
        "main/pages/b.txt",
        "top.md",
    ]


def test_the_log_can_begin_after_a_commit(history, ids):
    assert [commit.id for commit in history.log_with_trailers(after=ids[2])] == ids[3:]
    assert list(history.log_with_trailers(after=ids[4], changes=True)) == []


def test_the_log_of_merged_branches_has_parents_before_children(tmp_path, history, ids):
    git(tmp_path, "checkout", "-qb", "topic", ids[2])
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "aside\n\nRequest: person")
    git(tmp_path, "checkout", "-q", "main")
    git(tmp_path, "merge", "-q", "--no-edit", "topic")
    log = list(history.log_with_trailers(changes=True))
    seen: set[str] = set()
    for commit in log:
        assert set(commit.parents) <= seen
        seen.add(commit.id)
    assert len(log) == 7
    assert [c.trailers for c in log if c.subject == "aside"] == [[("Request", "person")]]
    assert log[-1].changes == ()


def test_the_log_is_streamed(history, ids):
    log = history.log_with_trailers(changes=True)
    assert next(log).id == ids[0]
    log.close()


def test_the_log_holds_odd_messages_of_others(tmp_path, history, ids):
    git(tmp_path, "commit", "-q", "--allow-empty", "--allow-empty-message", "-m", "")
    git(
        tmp_path, "-c", "i18n.commitEncoding=ISO-8859-1", "commit", "-q", "--allow-empty", "-m", "x"
    )
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "\x01 :100644 \x02\n\n:raw: no")
    log = list(history.log_with_trailers(changes=True))
    assert len(log) == 8
    assert log[5].subject == ""


def test_an_unborn_branch_has_no_commits(tmp_path):
    git(tmp_path, "init", "-q")
    with History(tmp_path) as history:
        assert history.resolve("HEAD") is None
        assert list(history.log_with_trailers(changes=True)) == []
