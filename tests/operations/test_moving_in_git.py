"""A person moves the vault by Git: what the head holds already is not committed once more."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.operations.builder import VaultBox, made_id, record_file
from tests.operations.test_clones import Clone, git, pull
from vault_kg.operations import care
from vault_kg.operations.workspace import Workspace
from vault_kg.state import journal as rows


def log(box: VaultBox) -> list[str]:
    """Return author and subject of every commit, newest first."""
    return git(box.root, "log", "--topo-order", "--format=%an: %s").splitlines()


def head(box: VaultBox) -> str:
    return git(box.root, "rev-parse", "HEAD").strip()


def commit(box: VaultBox, message: str = "mine") -> str:
    git(box.root, "add", "-A")
    git(box.root, "commit", "-qm", message)
    return head(box)


def scan(box: VaultBox) -> None:
    box.ws.scan()
    box.ws.outbox.drain()
    assert rows.queue_state(box.ws.database)[0] == 0


def lose_and_recover(box: VaultBox) -> dict[str, object]:
    box.ws.close()
    for left in (box.root / ".vault-kg").glob("state.sqlite*"):
        left.unlink()
    told = care.recover(box.root)
    box.ws = Workspace.open(box.root, clock=box.clock)
    return told


def body(box: VaultBox, ada: str, text: str, scanned: bool = True) -> None:
    """Change the text of a page as an editor does."""
    box.edit(ada, box.get(ada)["body"].strip(), text)
    if scanned:
        scan(box)


@pytest.fixture
def ada(vault: VaultBox) -> str:
    made = vault.page("Ada", body="First.")
    vault.change(made, body="Second.")
    return made


def to_another_branch(box: VaultBox) -> None:
    git(box.root, "branch", "-q", "before", "HEAD~1")
    git(box.root, "checkout", "-q", "before")


def back_by_reset(box: VaultBox) -> None:
    git(box.root, "reset", "-q", "--hard", "HEAD~1")


def back_by_revert(box: VaultBox) -> None:
    git(box.root, "revert", "--no-edit", "HEAD")


def one_file_of_before(box: VaultBox) -> None:
    git(box.root, "checkout", "-q", "HEAD~1", "--", "main")
    commit(box)


@pytest.mark.parametrize(
    "move", [to_another_branch, back_by_reset, back_by_revert, one_file_of_before]
)
def test_what_the_head_holds_gets_a_revision_and_no_commit(
    vault: VaultBox, ada: str, move: Callable[[VaultBox], None]
) -> None:
    move(vault)
    here, told = head(vault), log(vault)
    scan(vault)
    assert (head(vault), log(vault)) == (here, told)
    assert vault.get(ada)["body"] == "First."
    newest = vault.history(ada)[0]
    assert (newest["revision"], newest["operation"], newest["commit"]) == (3, "observe", here)
    assert vault.get(ada, asOf={"commit": here})["revision"] == 3
    assert vault.get(ada, asOf={"revision": 2})["body"] == "Second."
    assert vault.findings() == []
    vault.change(ada, body="Third.")
    assert vault.history(ada)[0]["revision"] == 4
    assert git(vault.root, "status", "--short") == ""


def test_going_to_and_fro_between_branches_leaves_both_as_they_are(
    vault: VaultBox, ada: str
) -> None:
    git(vault.root, "checkout", "-qb", "draft")
    draft = vault.page("Draft")
    body(vault, ada, "On the draft.")
    tips = [git(vault.root, "rev-parse", name) for name in ("main", "draft")]
    for name in ("main", "draft", "main"):
        git(vault.root, "checkout", "-q", name)
        scan(vault)
    assert [git(vault.root, "rev-parse", name) for name in ("main", "draft")] == tips
    assert vault.get(ada)["body"] == "Second."
    assert [f["record"] for f in vault.findings(section="missing")] == [draft]
    vault.write("knowledge_restore", id=draft)
    assert vault.get(draft)["title"] == "Draft"


def test_a_conflict_that_a_person_settled_is_told_by_the_merge_alone(
    vault: VaultBox, ada: str, folder: Path
) -> None:
    clone = Clone(vault, folder / "clone")
    vault.change(ada, body="Ours.")
    clone.change(ada, body="Theirs.")
    for box in (vault, clone):
        box.ws.outbox.drain()
    git(vault.root, "pull", "-q", "--no-rebase", str(clone.root), "main", fails=True)
    scanned = vault.ws.scan()
    assert scanned.changed == 1, "the markers are seen, and are no revision"
    git(vault.root, "checkout", "--ours", ".")
    merge = commit(vault, "ours")
    scan(vault)
    pull(clone, vault)
    scan(clone)
    assert head(vault) == head(clone) == merge
    assert {box.get(ada)["body"] for box in (vault, clone)} == {"Ours."}
    clone.ws.close()


def test_of_two_edits_only_the_one_that_was_not_committed_is_committed(
    vault: VaultBox, ada: str
) -> None:
    bob = vault.page("Bob", body="Bob.")
    body(vault, ada, "By hand.", scanned=False)
    mine = commit(vault)
    vault.edit(bob, "Bob.", "Bob by hand.")
    scan(vault)
    assert git(vault.root, "rev-parse", "HEAD~1").strip() == mine
    shown = git(vault.root, "show", "--format=%an: %s", "--name-only", "HEAD").split("\n")
    assert (shown[0], shown[2:]) == ("editor: edit: 2 files", [vault.get(bob)["path"], ""])
    assert vault.history(ada)[0]["commit"] == vault.history(bob)[0]["commit"] == head(vault)


def test_a_visit_of_an_old_commit_is_not_replayed_on_the_branch(vault: VaultBox, ada: str) -> None:
    here, told = head(vault), log(vault)
    git(vault.root, "checkout", "-q", "HEAD~1")
    vault.ws.scan()
    assert vault.get(ada)["body"] == "First."
    assert rows.queue_state(vault.ws.database)[0] == 1, "on a detached head nothing is committed"
    git(vault.root, "checkout", "-q", "main")
    scan(vault)
    assert (head(vault), log(vault)) == (here, told)
    assert [h["commit"] for h in vault.history(ada)[:2]] == [here, None]
    assert vault.get(ada, asOf={"revision": 3})["body"] == "First."


def test_what_was_typed_on_an_old_commit_is_committed_all_the_same(
    vault: VaultBox, ada: str
) -> None:
    git(vault.root, "checkout", "-q", "HEAD~1")
    vault.ws.scan()
    vault.edit(ada, "First.", "Typed.")
    vault.ws.scan()
    git(vault.root, "checkout", "-qf", "main")
    scan(vault)
    told = git(vault.root, "log", "-p", "--format=%s", "main", "--")
    assert "+Typed." in told, "Git never had it otherwise"
    assert vault.get(ada)["body"] == "Second."


def test_a_look_in_the_middle_of_a_rebase_is_not_replayed(vault: VaultBox, ada: str) -> None:
    git(vault.root, "checkout", "-qb", "side", "HEAD~1")
    (vault.root / "readme.txt").write_text("side")
    commit(vault, "side")
    git(vault.root, "checkout", "-q", "main")
    scan(vault)
    git(vault.root, "rebase", "-q", "--exec", "false", "side", fails=True)
    git(vault.root, "checkout", "-q", "side", "--", "main")
    vault.ws.scan()
    git(vault.root, "checkout", "-q", "HEAD", "--", "main")
    git(vault.root, "rebase", "--continue")
    here = head(vault)
    scan(vault)
    assert head(vault) == here
    assert vault.get(ada)["body"] == "Second."


# What a commit of edits is called


def test_commits_of_a_person_s_files_say_what_became_of_them(vault: VaultBox, ada: str) -> None:
    vault.put("main/pages/person/new.md", record_file(made_id(1), title="New"))
    scan(vault)
    assert log(vault)[0] == "editor: add: New"
    body(vault, ada, "By hand.")
    assert log(vault)[0] == "editor: edit: Ada"
    vault.path(ada).unlink()
    scan(vault)
    assert log(vault)[0] == "editor: delete: Ada"
    vault.put("main/pages/person/a.md", record_file(made_id(2), title="A"))
    vault.put("main/pages/person/b.md", record_file(made_id(3), title="B"))
    scan(vault)
    assert log(vault)[0] == "editor: add: 2 files"
    (vault.root / "main/pages/person/a.md").unlink()
    vault.edit(made_id(3), "title: B", "title: Bea")
    scan(vault)
    assert log(vault)[:2] == ["editor: delete: A", "editor: edit: Bea"]
    for path in sorted((vault.root / "main/pages/person").glob("*.md")):
        path.write_bytes(path.read_bytes() + b"\nMore.\n")
    vault.put("main/pages/person/c.md", record_file(made_id(4), title="C"))
    scan(vault)
    assert log(vault)[0] == "editor: edit: 3 files"


def test_a_file_that_comes_back_after_its_deletion_is_added(vault: VaultBox, ada: str) -> None:
    content = vault.path(ada).read_bytes()
    path = vault.path(ada)
    path.unlink()
    scan(vault)
    path.write_bytes(content)
    scan(vault)
    assert log(vault)[:2] == ["editor: add: Ada", "editor: delete: Ada"]


def test_a_guard_of_a_file_that_a_person_committed_is_told_by_a_commit_that_says_so(
    vault: VaultBox, ada: str
) -> None:
    gone = record_file(made_id(1), title="Gone", lifecycle="withdrawn")
    vault.put("main/pages/person/gone.md", gone)
    mine = commit(vault)
    scan(vault)
    assert log(vault)[0] == "editor: guard: 1 record"
    assert git(vault.root, "rev-parse", "HEAD~1").strip() == mine
    told = lose_and_recover(vault)
    assert (told["guards"], told["unproven"]) == (1, [])
    scan(vault)
    assert vault.get(made_id(1))["lifecycle"] == "withdrawn"


# After the state is lost


def test_what_a_person_committed_comes_back_with_its_number(vault: VaultBox, ada: str) -> None:
    body(vault, ada, "By the person.", scanned=False)
    mine = commit(vault)
    scan(vault)
    vault.change(ada, summary="A mathematician.")
    bob = vault.page("Bob")
    before = [
        {key: row[key] for key in ("revision", "hash", "commit", "operation", "actor", "path")}
        for row in vault.history(ada)
    ]
    assert before[1]["commit"] == mine
    told = lose_and_recover(vault)
    assert told["unproven"] == []
    position = vault.position
    scan(vault)
    assert vault.position == position, "the scan finds nothing that was not known"
    assert [{key: row[key] for key in before[0]} for row in vault.history(ada)] == before
    assert vault.listed() == {ada, bob}


def test_what_a_person_committed_last_is_taken_in_again_without_an_alarm(
    vault: VaultBox, ada: str
) -> None:
    body(vault, ada, "By the person.", scanned=False)
    here = commit(vault)
    scan(vault)
    before = vault.history(ada)[0]
    assert lose_and_recover(vault)["unproven"] == []
    scan(vault)
    after = vault.history(ada)[0]
    assert head(vault) == here
    for key in ("revision", "hash", "commit"):
        assert after[key] == before[key], key


def test_edits_that_were_committed_by_a_person_leave_no_hole_in_what_was_decided(
    vault: VaultBox, ada: str
) -> None:
    bob = vault.page("Bob", body="Bob.")
    for text in ("One.", "Two.", "Three."):
        body(vault, ada, text, scanned=False)
        commit(vault)
        scan(vault)
    vault.withdraw(bob)
    assert lose_and_recover(vault)["unproven"] == []
    assert vault.get(bob)["lifecycle"] == "withdrawn"
    assert vault.get(ada)["body"] == "Three."


def test_a_repository_of_records_becomes_a_vault_without_telling_them_twice(folder: Path) -> None:
    root = folder / "theirs"
    pages = root / "main/pages/person"
    pages.mkdir(parents=True)
    git(root, "init", "-qb", "main")
    for number in range(3):
        (pages / f"p{number}.md").write_text(record_file(made_id(number), title=f"P{number}"))
    git(root, "add", "-A")
    git(root, "commit", "-qm", "mine")
    box = VaultBox(root)
    scan(box)
    ada = box.page("Ada")
    assert git(root, "ls-tree", "--name-only", "HEAD", ".vault-kg/") == ".vault-kg/vault.toml\n"
    assert log(box) == ["tester: save_page: Ada", "editor: add: 3 files", "Ada: mine"]
    assert lose_and_recover(box)["unproven"] == []
    scan(box)
    assert box.listed() == {ada, *(made_id(number) for number in range(3))}
    box.ws.close()


# In another clone


def test_a_clone_learns_the_number_that_a_person_s_commit_has_elsewhere(
    vault: VaultBox, ada: str, folder: Path
) -> None:
    clone = Clone(vault, folder / "clone")
    body(vault, ada, "By the person.", scanned=False)
    commit(vault)
    scan(vault)
    vault.change(ada, summary="A mathematician.")
    pull(clone, vault)
    scan(clone)
    here, there = ([(h["revision"], h["hash"]) for h in box.history(ada)] for box in (vault, clone))
    assert here == there
    assert head(vault) == head(clone)
    (diff,) = (h["diff"] for h in clone.history(ada, diff=True)[:1])
    assert "+By the person." not in diff and "+summary: A mathematician." in diff
    clone.ws.close()


@pytest.mark.parametrize("move", [back_by_reset, back_by_revert])
def test_diagnostics_of_two_clones_agree_after_a_move_in_git(
    vault: VaultBox, ada: str, folder: Path, move: Callable[[VaultBox], None]
) -> None:
    clone = Clone(vault, folder / "clone")
    move(vault)
    scan(vault)
    git(clone.root, "fetch", "-q", str(vault.root), "main")
    git(clone.root, "reset", "-q", "--hard", "FETCH_HEAD")
    scan(clone)
    fresh = Clone(vault, folder / "fresh")
    assert [box.findings() for box in (vault, clone, fresh)] == [[], [], []]
    assert head(vault) == head(clone) == head(fresh)
    for box in (clone, fresh):
        box.ws.close()


def test_commits_that_a_person_squashed_tell_as_much_as_before(
    vault: VaultBox, ada: str, folder: Path
) -> None:
    bob = vault.page("Bob")
    clone = Clone(vault, folder / "clone")
    vault.change(ada, body="Third.")
    vault.withdraw(bob)
    vault.change(ada, body="Fourth.")
    vault.ws.outbox.drain()
    git(
        vault.root, "-c", "sequence.editor=sed -i '2,$s/^pick/squash/'", "-c", "core.editor=true",
        "rebase", "-q", "-i", "HEAD~3",
    )  # fmt: skip
    here = head(vault)
    scan(vault)
    pull(clone, vault)
    scan(clone)
    fresh = Clone(vault, folder / "fresh")
    for box in (vault, clone, fresh):
        assert box.get(bob)["lifecycle"] == "withdrawn"
        assert (box.get(ada)["revision"], box.get(ada)["body"]) == (4, "Fourth.")
        assert box.findings() == []
        assert head(box) == here
    for box in (clone, fresh):
        box.ws.close()


def test_what_a_person_squashed_away_is_not_made_up_again(
    vault: VaultBox, ada: str, folder: Path
) -> None:
    vault.change(ada, body="Third.")
    body(vault, ada, "By the person.", scanned=False)
    commit(vault)
    scan(vault)
    vault.change(ada, summary="A mathematician.")
    vault.ws.outbox.drain()
    git(
        vault.root, "-c", "sequence.editor=sed -i '2,$s/^pick/squash/'", "-c", "core.editor=true",
        "rebase", "-q", "-i", "HEAD~3",
    )  # fmt: skip
    scan(vault)
    fresh = Clone(vault, folder / "fresh")
    assert [row["revision"] for row in fresh.history(ada)] == [5, 3, 2, 1]
    assert fresh.get(ada)["body"] == "By the person."
    assert (fresh.findings(), head(fresh)) == ([], head(vault))
    fresh.ws.close()
