from __future__ import annotations

import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from vault_kg.store.git import CommitRequest, FileSnapshot, History
from vault_kg.store.git_process import Git, HeadMover, ObjectReader

PERSON = ("-c", "user.name=Person", "-c", "user.email=person@example.org")
NOON = datetime(2026, 1, 5, 12, 0, tzinfo=UTC)


def git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *PERSON, *arguments], cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def put(root: Path, path: str, content: bytes) -> FileSnapshot:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_bytes(content)
    return FileSnapshot(path, content)


def request(*files: FileSnapshot) -> CommitRequest:
    return CommitRequest(files, "save", "Ada", "ada@example.org", NOON)


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    root = tmp_path / "vault"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    put(root, "a.md", b"0\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "person")
    return root


def use_everything(root: Path) -> None:
    """Commit a change, a new file and a removal, and read in every way there is."""
    with History(root) as history:
        files = (put(root, "a.md", b"1\r\n"), put(root, "new/b.md", b"2\n"))
        (commit,) = history.commit([request(*files)])
        (root / "new/b.md").unlink()
        history.commit([request(FileSnapshot("new/b.md", None))])
        assert history.resolve("HEAD~1") == commit
        assert history.read_file(commit, "a.md") == b"1\r\n"
        assert history.list_files(commit)
        assert len(list(history.log_with_trailers(changes=True))) == 3


HOOKS = [
    "applypatch-msg",
    "commit-msg",
    "post-applypatch",
    "post-checkout",
    "post-commit",
    "post-index-change",
    "post-merge",
    "post-rewrite",
    "pre-applypatch",
    "pre-auto-gc",
    "pre-commit",
    "pre-merge-commit",
    "pre-push",
    "pre-rebase",
    "prepare-commit-msg",
    "reference-transaction",
    "sendemail-validate",
    "fsmonitor-watchman",
]


def trap(root: Path) -> tuple[Path, Path]:
    """Return a program that leaves a mark and fails, and the mark."""
    mark, program = root.parent / "mark", root.parent / "trap"
    program.write_text(f'#!/bin/sh\necho "$0 $*" >> {mark}\nexit 1\n')
    program.chmod(0o755)
    return program, mark


def test_no_hook_runs_wherever_it_is_configured(vault):
    program, mark = trap(vault)
    for place in (vault / ".git/hooks", vault.parent / "hooks"):
        place.mkdir(exist_ok=True)
        for hook in HOOKS:
            (place / hook).write_bytes(program.read_bytes())
            (place / hook).chmod(0o755)
    use_everything(vault)
    assert not mark.exists()
    git(vault, "config", "core.hooksPath", str(vault.parent / "hooks"))
    put(vault, "a.md", b"0")
    with History(vault) as history:
        history.commit([request(put(vault, "a.md", b"3"))])
    assert not mark.exists()


@pytest.mark.parametrize(
    "settings",
    [
        {"core.fsmonitor": "TRAP"},
        {"core.pager": "TRAP", "pager.log": "TRAP", "core.editor": "TRAP"},
        {"commit.gpgSign": "true", "gpg.program": "TRAP", "log.showSignature": "true"},
        {"diff.external": "TRAP", "diff.x.textconv": "TRAP", "diff.x.command": "TRAP"},
        {"filter.x.clean": "TRAP", "filter.x.smudge": "TRAP", "filter.x.required": "true"},
        {"filter.x.process": "TRAP", "filter.x.required": "true"},
        {"credential.helper": "TRAP", "core.askPass": "TRAP", "core.sshCommand": "TRAP"},
        {"alias.cat-file": "!TRAP", "alias.update-ref": "!TRAP", "alias.rev-list": "!TRAP"},
        {"remote.origin.url": "ext::TRAP", "remote.origin.promisor": "true"},
        {"uploadpack.packObjectsHook": "TRAP", "trace2.eventTarget": "TRAP"},
    ],
)
def test_no_program_of_the_configuration_runs(vault, settings):
    program, mark = trap(vault)
    put(vault, ".gitattributes", b"*.md filter=x diff=x merge=x\n")
    for key, value in settings.items():
        git(vault, "config", key, value.replace("TRAP", str(program)))
    use_everything(vault)
    assert not mark.exists()


def test_a_missing_object_of_a_partial_clone_is_not_fetched(vault):
    program, mark = trap(vault)
    git(vault, "config", "remote.origin.url", f"ext::{program}")
    git(vault, "config", "remote.origin.promisor", "true")
    git(vault, "config", "extensions.partialClone", "origin")
    git(vault, "config", "protocol.ext.allow", "always")
    reader = ObjectReader(Git(vault))
    assert reader.read("1" * 40) is None
    reader.close()
    assert not mark.exists()


@pytest.mark.parametrize(
    "settings",
    [
        {"core.autocrlf": "true"},
        {"core.autocrlf": "input", "core.safecrlf": "true"},
        {"core.quotePath": "true"},
        {"i18n.commitEncoding": "ISO-8859-1", "i18n.logOutputEncoding": "ISO-8859-1"},
        {
            "core.abbrev": "4",
            "log.date": "relative",
            "format.pretty": "oneline",
            "color.ui": "always",
        },
        {"core.bigFileThreshold": "1", "core.compression": "0"},
        {"core.untrackedCache": "true", "feature.manyFiles": "true"},
        {"core.splitIndex": "true"},
        {"index.skipHash": "true", "index.threads": "4"},
        {"diff.renames": "copies", "diff.noprefix": "true", "diff.ignoreSubmodules": "all"},
        {"core.logAllRefUpdates": "false"},
    ],
)
def test_settings_of_the_person_change_nothing_in_what_is_committed(vault, settings):
    for key, value in settings.items():
        git(vault, "config", key, value)
    git(vault, "status")
    git(vault, "update-index", "--refresh")
    use_everything(vault)
    put(vault, "n/ü é.md", b"3\r\n\n")
    with History(vault) as history:
        history.commit([request(FileSnapshot("n/ü é.md", b"3\r\n\n"))])
        assert history.read_file("HEAD", "n/ü é.md") == b"3\r\n\n"
    assert git(vault, "status", "--porcelain") == ""
    git(vault, "fsck", "--strict")


def test_attributes_change_nothing_in_what_is_committed(vault):
    put(
        vault,
        ".gitattributes",
        b"*.md text eol=crlf ident export-subst working-tree-encoding=UTF-16\n",
    )
    git(vault, "add", ".gitattributes")
    git(vault, "commit", "-qm", "attributes")
    with History(vault) as history:
        for content in (b"a\r\n$Id$\n", b"a\n", b"\xff\xfeplain"):
            history.commit([request(put(vault, "a.md", content))])
            assert history.read_file("HEAD", "a.md") == content


@pytest.mark.parametrize("variable", ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"])
def test_variables_that_point_elsewhere_are_not_inherited(vault, tmp_path, monkeypatch, variable):
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q")
    monkeypatch.setenv(variable, str(other / ".git"))
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(other / ".git/objects"))
    monkeypatch.setenv("GIT_NAMESPACE", "elsewhere")
    monkeypatch.setenv("GIT_AUTHOR_DATE", "2001-01-01T00:00:00Z")
    use_everything(vault)
    monkeypatch.undo()
    assert git(vault, "rev-list", "--count", "main").strip() == "3"
    assert git(other, "count-objects").startswith("0 objects")


@pytest.mark.parametrize("locale", ["C", "POSIX", "en_US.ISO-8859-1", "zh_CN.GB18030"])
def test_the_locale_changes_nothing(vault, monkeypatch, locale):
    monkeypatch.setenv("LC_ALL", locale)
    monkeypatch.setenv("LANG", locale)
    use_everything(vault)


def test_a_reader_whose_process_died_starts_another(vault):
    reader = ObjectReader(Git(vault))
    head = reader.read("HEAD")
    reader._git._process.kill()
    reader._git._process.wait()
    assert reader.read("HEAD") == head
    reader.close()


@pytest.mark.parametrize(
    "name", ["", "no such", "a\nHEAD", "\0", "-h", "HEAD --help", "HEAD^{blob}"]
)
def test_a_name_of_nothing_reads_as_nothing(vault, name):
    reader = ObjectReader(Git(vault))
    assert reader.read(name) is None
    assert reader.read("HEAD") is not None
    reader.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_does_not_share_the_process(vault):
    reader = ObjectReader(Git(vault))
    head = reader.read("HEAD")
    child = os.fork()
    if child == 0:
        os._exit(0 if reader.read("HEAD") == head else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert reader.read("HEAD^{tree}").kind == "tree"
    reader.close()


def test_the_branch_moves_only_from_where_it_was(vault):
    mover = HeadMover(Git(vault))
    first = git(vault, "rev-parse", "HEAD").strip()
    git(vault, "commit", "--allow-empty", "-qm", "second")
    second = git(vault, "rev-parse", "HEAD").strip()
    assert "expected" in (mover.move(first, first) or "")
    assert mover.move(first, second) is None
    assert mover.move(second, first) is None
    assert git(vault, "rev-parse", "main").strip() == second
    assert "vault-kg" in git(vault, "reflog", "-1", "main")
    assert "exists" in (mover.move(first, "0" * 40) or "")
    mover.stop()
