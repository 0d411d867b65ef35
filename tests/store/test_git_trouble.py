"""Git cannot take a commit now: the write stands, and is committed later, in order, to the byte."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.operations.builder import ANYBODY, VaultBox, made_id, record_file
from tests.store import trials
from tests.store.trials import Call, as_nobody, give_back, give_to_nobody
from vault_kg.store import files

PERSON = ("-c", "user.name=P", "-c", "user.email=p@example.org")


@pytest.fixture
def box(tmp_path: Path) -> Iterator[VaultBox]:
    made = VaultBox(tmp_path / "vault")
    yield made
    made.ws.close()


@dataclass(frozen=True)
class Trouble:
    """What is in the way, how it goes away, and what a receipt says meanwhile."""

    name: str
    begin: Callable[[VaultBox], Any]
    end: Callable[[VaultBox, Any], None]
    state: str
    reason: str


def _hide_git(box: VaultBox) -> str:
    path = os.environ["PATH"]
    os.environ["PATH"] = "/nowhere"
    box.reopen()
    return path


def _show_git(box: VaultBox, path: str) -> None:
    os.environ["PATH"] = path


def _lock(name: str) -> Callable[[VaultBox], Path]:
    def begin(box: VaultBox) -> Path:
        lock = box.root / ".git" / name
        lock.write_text("held by a person's Git")
        return lock

    return begin


def _unlock(box: VaultBox, lock: Path) -> None:
    assert lock.read_text() == "held by a person's Git", "a lock that lives is never taken away"
    lock.unlink()


def _detach(box: VaultBox) -> None:
    box.git("checkout", "-q", "--detach")


def _attach(box: VaultBox, _: Any) -> None:
    box.git("checkout", "-q", "main")


def _begin_rebase(box: VaultBox) -> None:
    """Stop in the middle of a rebase of a branch of the person's own."""
    box.git("branch", "mine")
    box.git("checkout", "-q", "mine")
    box.put("own.txt", "one\n")
    box.git("add", "own.txt")
    box.git(*PERSON, "commit", "-qm", "own")
    done = subprocess.run(
        ["git", *PERSON, "rebase", "-q", "-x", "false", "HEAD~1"], cwd=box.root, capture_output=True
    )
    assert done.returncode != 0 and (box.root / ".git/rebase-merge").is_dir()


def _end_rebase(box: VaultBox, _: Any) -> None:
    box.git(*PERSON, "rebase", "--abort")
    box.git("checkout", "-q", "main")


def _break_repository(box: VaultBox) -> Path:
    head = box.root / ".git/HEAD"
    head.rename(head.with_name("HEAD.away"))
    box.reopen()
    return head


def _mend_repository(box: VaultBox, head: Path) -> None:
    head.with_name("HEAD.away").rename(head)
    box.reopen()


TROUBLES = (
    Trouble("git-missing", _hide_git, _show_git, "unavailable", "not installed"),
    Trouble("index-locked", _lock("index.lock"), _unlock, "pending", "index.lock"),
    Trouble("branch-locked", _lock("refs/heads/main.lock"), _unlock, "pending", "branch"),
    Trouble("head-locked", _lock("HEAD.lock"), _unlock, "pending", "branch"),
    Trouble("head-detached", _detach, _attach, "pending", "detached"),
    Trouble("in-a-rebase", _begin_rebase, _end_rebase, "pending", "rebase"),
    Trouble("repository-broken", _break_repository, _mend_repository, "unavailable", ".git"),
)


@pytest.mark.parametrize("trouble", TROUBLES, ids=lambda t: t.name)
def test_writes_stand_and_are_committed_later_in_order(box: VaultBox, trouble: Trouble) -> None:
    ada = box.page("Ada", body="First.")
    known = trouble.begin(box)
    try:
        receipts = [
            box.change(ada, body="Second."),
            box.change(ada, body="Third."),
            box.write("knowledge_save_page", type="Person", title="Charles"),
        ]
        for receipt in receipts:
            assert receipt["git"]["state"] == trouble.state, receipt["git"]
            assert trouble.reason in receipt["git"]["reason"]
        box.edit(ada, "Third.", "By hand.")
        box.scan()
        assert box.get(ada)["body"] == "By hand."
        assert box.get(ada, revision=2)["body"] == "Second.", "old bytes wait in the journal"
    finally:
        trouble.end(box, known)
    box.scan()  # aborting a rebase resets the person's files, which is an edit
    box.page("The one after")
    trials.check_git(box, frozenset({"own.txt"}))
    for row in box.history(ada):
        content = box.ws.history.read_file(row["commit"], row["path"])
        assert content is not None and files.content_hash(content) == row["hash"]
    again = box.ws.receipt(receipts_seq(box, receipts[0]), ANYBODY)
    assert again.git.state == "committed" and again.git.commit


def receipts_seq(box: VaultBox, receipt: dict[str, Any]) -> int:
    return int(
        box.ws.database.value(
            "SELECT seq FROM journal WHERE request_id = ?", (receipt["requestId"],)
        )
    )


def test_a_write_during_trouble_that_dies_is_committed_once(box: VaultBox) -> None:
    ada = box.page("Ada")
    call = Call("knowledge_save_page", {"requestId": "r", **box.fence(ada), "summary": "New."})
    lock = _lock("index.lock")(box)
    box.ws.close()
    trials.crash(box.root, call, "git.before")
    box.reopen()
    assert trials.perform(box.ws, call)["git"]["state"] == "pending"
    _unlock(box, lock)
    assert trials.perform(box.ws, call)["git"]["state"] == "committed"
    trials.check_git(box)


def test_a_repository_that_may_not_be_written_to_waits_for_permission(tmp_path: Path) -> None:
    folder = trials.fast_folder()
    folder.chmod(0o755)
    box = VaultBox(folder / "vault")
    ada = box.page("Ada")
    call = Call("knowledge_save_page", {"requestId": "r", **box.fence(ada), "summary": "New."})
    box.ws.close()
    give_to_nobody(box.root)
    closed = [p for p in (box.root / ".git").rglob("*") if p.is_dir()] + [box.root / ".git"]
    for path in closed:
        path.chmod(0o555)
    (answer,) = as_nobody(box.root, [call])
    assert answer["git"]["state"] in ("unavailable", "pending"), answer
    for path in closed:
        path.chmod(0o755)
    (answer,) = as_nobody(box.root, [call])
    assert answer["git"]["state"] == "committed"
    give_back(box.root)
    with trials.looking_at(box.root) as looked:
        trials.check_git(looked)
    shutil.rmtree(folder)


# What belongs to the person


@pytest.mark.parametrize(
    "hook", ["pre-commit", "commit-msg", "post-commit", "reference-transaction"]
)
def test_hooks_do_not_run(box: VaultBox, hook: str) -> None:
    box.page("Ada")
    ran = box.root.parent / "ran"
    path = box.root / ".git/hooks" / hook
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\ntouch '{ran}'\nexit 1\n")
    path.chmod(0o755)
    receipt = box.write("knowledge_save_page", type="Person", title="Charles")
    assert receipt["git"]["state"] == "committed"
    assert not ran.exists()


def test_settings_of_the_person_change_nothing(
    box: VaultBox, monkeypatch: pytest.MonkeyPatch
) -> None:
    box.page("Ada")
    for name, value in (
        ("commit.gpgsign", "true"), ("gpg.program", "false"), ("core.quotePath", "true"),
        ("core.autocrlf", "true"), ("core.editor", "false"), ("user.useConfigOnly", "true"),
        ("core.fsmonitor", "false"), ("i18n.commitEncoding", "ISO-8859-1"),
        ("filter.evil.clean", "false"), ("filter.evil.required", "true"), ("core.eol", "crlf"),
    ):  # fmt: skip
        box.git("config", name, value)
    box.put(".gitattributes", "*.md filter=evil text=auto\n")
    for name in ("LC_ALL", "LANG"):
        monkeypatch.setenv(name, "C")
    receipt = box.write("knowledge_save_page", type="Person", title="Žofie 日本", body="a\r\nb\n")
    assert receipt["git"]["state"] == "committed"
    stored = box.ws.history.read_file(receipt["git"]["commit"], receipt["path"])
    assert stored == (box.root / receipt["path"]).read_bytes()
    assert (
        "Žofie 日本"
        in subprocess.run(
            ["git", "log", "-1", "--format=%s"], cwd=box.root, capture_output=True, check=True
        ).stdout.decode()
    )


def test_what_a_person_staged_stays_staged(box: VaultBox) -> None:
    ada, charles = box.page("Ada", body="Text."), box.page("Charles", body="Text.")
    box.put("own.txt", "mine\n")
    box.git("add", "own.txt")
    box.edit(charles, "Text.", "Staged by hand.")
    box.git("add", "-A", "main")
    staged = box.git("diff", "--cached", "--name-only")
    box.change(ada, summary="By an operation.")
    box.page("Augusta")
    assert box.git("diff", "--cached", "--name-only") == staged
    assert box.git("show", f":{box.relative(box.path(charles))}").endswith("Staged by hand.")
    box.scan()
    assert "own.txt" in box.git("diff", "--cached", "--name-only")
    assert "own.txt" not in box.git("ls-tree", "-r", "--name-only", "HEAD")


def test_a_person_who_commits_meanwhile_is_built_upon(box: VaultBox) -> None:
    ada = box.page("Ada", body="Text.")
    box.edit(ada, "Text.", "By hand.")
    box.git(*PERSON, "commit", "-qam", "mine")
    mine = box.git("rev-parse", "HEAD")
    box.scan()
    box.change(ada, summary="After.")
    assert box.git("merge-base", "HEAD", mine) == mine
    assert [row["revision"] for row in box.history(ada)] == [3, 2, 1]
    assert all(row["commit"] for row in box.history(ada))
    trials.check_git(box)


def test_a_branch_that_was_reset_does_not_take_writes_back(box: VaultBox) -> None:
    """A person goes back in Git; the state says what stands, and the files are their edit."""
    ada = box.page("Ada", body="First.")
    claim = box.claim(ada)
    box.withdraw(claim)
    box.git("reset", "-q", "--hard", "HEAD~1")
    box.scan()
    assert claim not in box.listed()
    assert box.get(claim)["lifecycle"] == "withdrawn"
    assert box.findings("guard_contradicted")
    box.page("After")
    assert box.ws.database.rows("SELECT * FROM git_outbox") == []


def test_an_enclosing_repository_is_not_adopted(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    box = VaultBox(tmp_path / "inside" / "vault")
    box.page("Ada")
    trials.check_git(box)
    outside = subprocess.run(
        ["git", "rev-parse", "--verify", "-q", "HEAD"], cwd=tmp_path, capture_output=True
    )
    assert outside.returncode != 0, "nothing was committed there"
    box.ws.close()


def test_a_name_that_git_cannot_hold_does_not_stop_the_rest(box: VaultBox) -> None:
    box.put("main/pages/person/git~1/one.md", record_file(made_id(1)))
    box.put("main/pages/person/two.md", record_file(made_id(2)))
    box.scan()
    receipt = box.write("knowledge_save_page", type="Person", title="Charles")
    assert receipt["git"]["state"] == "committed"
    assert "two.md" in box.git("ls-tree", "-r", "--name-only", "HEAD")
    assert box.ws.database.rows("SELECT * FROM git_outbox") == []
