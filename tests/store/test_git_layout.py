from __future__ import annotations

import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from vault_kg.store.git import CommitRequest, FileSnapshot, GitUnavailable, History
from vault_kg.store.git_objects import object_id

PERSON = ("-c", "user.name=Person", "-c", "user.email=person@example.org")


def git(root: Path, *arguments: str) -> str:
    allowed = ("-c", "protocol.file.allow=always")
    done = subprocess.run(
        ["git", *PERSON, *allowed, *arguments], cwd=root, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def new(root: Path, *options: str) -> Path:
    root.mkdir(parents=True, exist_ok=True)
    git(root, "init", "-q", "-b", "main", *options)
    return root


def filled(root: Path, *options: str) -> Path:
    new(root, *options)
    (root / "old.md").write_bytes(b"old")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "person")
    return root


def commit(root: Path, content: bytes = b"1") -> str:
    (root / "a.md").write_bytes(content)
    asked = CommitRequest(
        [FileSnapshot("a.md", content)], "save", "Ada", "ada@example.org", datetime.now(UTC)
    )
    with History(root) as history:
        (made,) = history.commit([asked])
        assert history.read_file(made, "a.md") == content
    assert git(root, "status", "--porcelain") == ""
    assert git(root, "rev-parse", "HEAD").strip() == made
    return made


def refused(root: Path) -> str:
    with pytest.raises(GitUnavailable) as unavailable:
        commit(root)
    return unavailable.value.reason


def test_an_enclosing_repository_is_never_adopted(tmp_path):
    outer = filled(tmp_path / "outer")
    before = git(outer, "rev-parse", "HEAD")
    inner = outer / "vault"
    inner.mkdir()
    with History(inner) as history:
        assert history.resolve("HEAD") is None
    commit(inner)
    assert (inner / ".git").is_dir()
    assert git(outer, "rev-parse", "HEAD") == before
    assert git(outer, "ls-files").split() == ["old.md"]


def test_an_empty_folder_named_dot_git_is_filled(tmp_path):
    (tmp_path / "vault" / ".git").mkdir(parents=True)
    commit(tmp_path / "vault")


def test_an_unborn_branch_gets_its_first_commit(tmp_path):
    root = new(tmp_path / "vault")
    git(root, "checkout", "-q", "--orphan", "topic/deep")
    commit(root)
    assert git(root, "branch", "--show-current").strip() == "topic/deep"


def test_a_linked_working_tree_has_its_own_head_and_index(tmp_path):
    main = filled(tmp_path / "main")
    git(main, "worktree", "add", "-q", "-b", "linked", "../linked")
    before = git(main, "rev-parse", "HEAD")
    commit(tmp_path / "linked")
    assert git(main, "rev-parse", "HEAD") == before
    assert git(main, "status", "--porcelain") == ""
    commit(main, b"2")


def test_a_repository_kept_apart_works(tmp_path):
    root = new(tmp_path / "vault", f"--separate-git-dir={tmp_path / 'apart'}")
    assert (root / ".git").is_file()
    commit(root)


def test_a_submodule_has_the_history_of_its_own(tmp_path):
    part, whole = filled(tmp_path / "part"), filled(tmp_path / "whole")
    git(whole, "submodule", "--quiet", "add", str(part), "sub")
    assert (whole / "sub" / ".git").is_file()
    commit(whole / "sub")


def test_a_file_that_names_the_repository_of_another_working_tree_is_refused(tmp_path):
    other = filled(tmp_path / "other")
    root = tmp_path / "vault"
    root.mkdir()
    (root / ".git").write_text(f"gitdir: {other / '.git'}\n")
    assert refused(root) == "foreign_repository"
    git(other, "worktree", "add", "-q", "../linked")
    (root / ".git").write_bytes((tmp_path / "linked" / ".git").read_bytes())
    assert refused(root) == "foreign_repository"


def test_a_link_to_the_repository_of_another_working_tree_is_refused(tmp_path):
    other = filled(tmp_path / "other")
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / ".git").symlink_to(other / ".git")
    assert refused(tmp_path / "vault") == "foreign_repository"


def test_a_repository_whose_working_tree_is_elsewhere_is_refused(tmp_path):
    root = filled(tmp_path / "vault")
    (tmp_path / "elsewhere").mkdir()
    git(root, "config", "core.worktree", str(tmp_path / "elsewhere"))
    assert refused(root) in ("foreign_repository", "bare_repository")


def test_a_bare_repository_is_refused(tmp_path):
    root = filled(tmp_path / "vault")
    git(root, "config", "core.bare", "true")
    assert refused(root) == "bare_repository"


@pytest.mark.parametrize("content", ["", "nonsense", "gitdir: /nowhere/at/all\n"])
def test_a_file_that_names_no_repository_is_refused(tmp_path, content):
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / ".git").write_text(content)
    assert refused(tmp_path / "vault") == "git_failed"


def test_a_damaged_repository_is_refused_and_not_made_anew(tmp_path):
    root = filled(tmp_path / "vault")
    (root / ".git" / "HEAD").unlink()
    assert refused(root) == "git_failed"
    assert not (root / ".git" / "HEAD").exists()


def test_a_repository_of_an_unknown_format_is_refused(tmp_path):
    root = filled(tmp_path / "vault")
    git(root, "config", "core.repositoryFormatVersion", "99")
    assert refused(root) == "git_failed"


def test_objects_named_by_sha256_work(tmp_path):
    root = filled(tmp_path / "vault", "--object-format=sha256")
    assert len(commit(root)) == 64
    (root / "old.md").unlink()
    with History(root) as history:
        gone = FileSnapshot("old.md", None)
        history.commit([CommitRequest([gone], "s", "A", "a@x", datetime.now(UTC))])
        assert [path for path, _ in history.list_files("HEAD")] == ["a.md"]
        assert object_id("blob", b"1", "sha256") == history.list_files("HEAD")[0][1]
    assert git(root, "status", "--porcelain") == ""
    git(root, "fsck", "--strict")


def test_borrowed_and_packed_objects_and_packed_branches_work(tmp_path):
    origin = filled(tmp_path / "origin")
    git(tmp_path, "clone", "-q", "--shared", "origin", "vault")
    root = tmp_path / "vault"
    commit(root)
    git(root, "gc", "-q")
    git(root, "pack-refs", "--all")
    commit(root, b"2")
    assert git(origin, "rev-list", "--count", "HEAD").strip() == "1"


def test_objects_packed_while_the_history_is_open_are_found(tmp_path):
    root = filled(tmp_path / "vault")
    with History(root) as history:
        for number in range(4):
            file = FileSnapshot("a.md", b"%d" % number)
            history.commit([CommitRequest([file], "s", "A", "a@x", datetime.now(UTC))])
            git(root, "gc", "-q", "--prune=now")
            assert history.read_file("HEAD", "a.md") == b"%d" % number
            assert history.read_file("HEAD~1", "old.md") == b"old"


def test_a_shallow_clone_works(tmp_path):
    filled(tmp_path / "origin")
    git(tmp_path / "origin", "commit", "-q", "--allow-empty", "-m", "second")
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{tmp_path / 'origin'}", "vault")
    commit(tmp_path / "vault")
    with History(tmp_path / "vault") as history:
        assert len(list(history.log_with_trailers(changes=True))) == 2


def test_replaced_objects_are_seen_as_they_were_committed(tmp_path):
    root = filled(tmp_path / "vault")
    made = commit(root)
    git(root, "replace", made, "HEAD~1")
    with History(root) as history:
        assert history.read_file(made, "a.md") == b"1"


def test_a_vault_reached_by_a_link_is_the_vault(tmp_path):
    filled(tmp_path / "vault")
    (tmp_path / "link").symlink_to("vault")
    commit(tmp_path / "link")


@pytest.mark.parametrize("name", ["with space", "ünïcödé 双", "line\nbreak", "a:b", "-option"])
def test_the_name_of_the_vault_may_be_anything(tmp_path, name):
    filled(tmp_path / name)
    commit(tmp_path / name)
    (tmp_path / "parent" / name).mkdir(parents=True)
    commit(tmp_path / "parent" / name)
