"""Two clones of one vault, and a state put back from a copy: what a commit says counts everywhere."""

from __future__ import annotations

import itertools
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.operations.builder import VaultBox
from vault_kg.errors import LifecycleRefused
from vault_kg.operations import care
from vault_kg.operations.workspace import Workspace
from vault_kg.state import journal as rows


class Clone(VaultBox):
    """A clone of another vault, with a state recovered from what was cloned."""

    def __init__(self, of: VaultBox, root: Path) -> None:
        of.ws.outbox.drain()
        subprocess.run(["git", "clone", "-q", str(of.root), str(root)], check=True)
        care.recover(root)
        self.root, self.clock = root, of.clock
        self.ws = Workspace.open(root, clock=of.clock)
        self.ws.scan()
        self._numbers = itertools.count(1)
        self._source = None

    def new_request(self) -> str:
        return f"clone-{super().new_request()}"


def git(root: Path, *arguments: str, fails: bool = False) -> str:
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    done = subprocess.run(
        ["git", "-C", str(root), *who, *arguments], capture_output=True, text=True
    )
    assert fails or done.returncode == 0, done.stderr
    return done.stdout


def pull(into: VaultBox, source: VaultBox) -> None:
    for box in (into, source):
        box.ws.outbox.drain()
    git(into.root, "pull", "-q", "--no-rebase", "--no-edit", str(source.root), "main")


@pytest.fixture
def clone(vault: VaultBox, folder: Path) -> Iterator[Clone]:
    vault.page("Ada")
    made = Clone(vault, folder / "clone")
    yield made
    made.ws.close()


def test_what_one_clone_withdrew_corrected_and_merged_holds_in_the_other_after_a_pull(
    vault: VaultBox, folder: Path
) -> None:
    tea, chai = vault.page("Tea"), vault.page("Chai")
    green, hot = vault.claim(tea, "Tea is green."), vault.claim(tea, "Tea is hot.")
    clone = Clone(vault, folder / "clone")
    clone.withdraw(green)
    cold = clone.correct(hot, clone.claim_values(tea, "Tea is cold."))["replacementId"]
    clone.merge(tea, chai)
    vault.page("Coffee")
    pull(vault, clone)

    vault.ws.scan()

    assert vault.get(green)["lifecycle"] == "withdrawn"
    assert (vault.get(hot)["lifecycle"], vault.get(hot)["supersededBy"]) == ("superseded", cold)
    assert vault.get(chai)["id"] == tea
    assert vault.listed(kind="claim") == {cold}
    assert vault.findings() == []
    assert git(vault.root, "status", "--short") == ""
    assert git(vault.root, "log", "-1", "--format=%s").startswith("Merge"), "nothing to commit"
    clone.ws.close()


def test_a_single_read_after_a_pull_knows_of_the_withdrawal(vault: VaultBox, clone: Clone) -> None:
    (ada,) = vault.listed()
    clone.withdraw(ada)
    pull(vault, clone)
    assert vault.get(ada)["lifecycle"] == "withdrawn"
    vault.refused("knowledge_save_page", **vault.fence(ada), title="Ada again")


def test_a_write_after_a_pull_meets_what_was_pulled(vault: VaultBox, clone: Clone) -> None:
    (ada,) = vault.listed()
    fence = vault.fence(ada)
    clone.withdraw(ada)
    pull(vault, clone)
    with pytest.raises(LifecycleRefused):
        vault.write("knowledge_save_page", **fence, title="Ada again")


def test_what_was_pulled_and_undone_in_git_stays_withdrawn(vault: VaultBox, clone: Clone) -> None:
    (ada,) = vault.listed()
    clone.withdraw(ada)
    before = git(vault.root, "rev-parse", "HEAD").strip()
    pull(vault, clone)
    vault.ws.scan()
    git(vault.root, "reset", "-q", "--hard", before)
    vault.ws.scan()
    assert vault.get(ada)["lifecycle"] == "withdrawn"
    assert [f["code"] for f in vault.findings()] == ["guard_contradicted"]


def test_a_state_put_back_from_a_copy_catches_up_with_git(vault: VaultBox, folder: Path) -> None:
    ada, adda = vault.page("Ada"), vault.page("Adda")
    tea = vault.page("Tea")
    vault.ws.scan()
    copy = folder / "copy.sqlite"
    vault.ws.database.backup(copy)
    vault.withdraw(tea)
    vault.merge(ada, adda)
    later = vault.page("Later")
    vault.ws.outbox.drain()
    entries = vault.position
    vault.ws.close()
    for left in (vault.root / ".vault-kg").glob("state.sqlite*"):
        left.unlink()
    shutil.copy(copy, vault.root / ".vault-kg" / "state.sqlite")

    vault.ws = Workspace.open(vault.root, clock=vault.clock)
    vault.ws.scan()

    assert vault.get(tea)["lifecycle"] == "withdrawn"
    assert vault.get(adda)["id"] == ada
    assert vault.listed() == {ada, later}
    assert vault.position == entries, "each entry has the number that it had"
    assert vault.findings() == []


def test_two_clones_that_used_one_request_id_keep_both_entries(
    vault: VaultBox, clone: Clone, folder: Path
) -> None:
    (ada,) = vault.listed()
    tea = vault.page("Tea")
    vault.withdraw(tea, requestId="1")
    clone.withdraw(ada, requestId="1")
    pull(vault, clone)
    vault.ws.scan()
    assert {vault.get(i)["lifecycle"] for i in (ada, tea)} == {"withdrawn"}

    third = folder / "third"
    vault.ws.outbox.drain()
    git(folder, "clone", "-q", str(vault.root), str(third))
    told = care.recover(third)
    assert (told["guards"], told["unproven"]) == (2, [])


def test_two_pages_of_one_title_made_in_two_clones_stay_two(vault: VaultBox, clone: Clone) -> None:
    ours, theirs = vault.page("Tea"), clone.page("Tea")
    said = clone.claim(theirs, "Tea is theirs.")
    for box in (vault, clone):
        box.ws.outbox.drain()
    git(vault.root, "pull", "-q", "--no-rebase", str(clone.root), "main", fails=True)
    git(vault.root, "checkout", "--theirs", "main/pages/person/tea.md")
    git(vault.root, "add", "-A")
    git(vault.root, "commit", "-qm", "theirs")
    vault.ws.scan()
    assert vault.get(theirs)["title"] == "Tea"
    assert vault.get(said)["eligible"]
    assert [f["record"] for f in vault.findings(section="missing")] == [ours]


def test_own_commits_and_those_of_a_person_are_read_once(vault: VaultBox) -> None:
    for title in ("Ada", "Bob"):
        vault.page(title)
    vault.ws.outbox.drain()
    vault.ws.scan()
    (vault.root / "note.txt").write_text("by hand")
    git(vault.root, "add", "note.txt")
    git(vault.root, "commit", "-qm", "by hand")
    before = rows.last_seq(vault.ws.database)
    vault.ws.scan()
    assert rows.last_seq(vault.ws.database) == before
    assert vault.findings() == []


def test_what_is_being_merged_counts_while_a_person_resolves_the_rest(
    vault: VaultBox, clone: Clone
) -> None:
    (ada,) = vault.listed()
    tea = vault.page("Tea")
    pull(clone, vault)
    clone.ws.scan()
    vault.change(ada, body="Ours.")
    clone.change(ada, body="Theirs.")
    clone.withdraw(tea)
    for box in (vault, clone):
        box.ws.outbox.drain()
    git(vault.root, "pull", "-q", "--no-rebase", str(clone.root), "main", fails=True)

    vault.ws.scan()
    assert vault.get(tea)["lifecycle"] == "withdrawn"

    path = vault.path(ada).relative_to(vault.root)
    git(vault.root, "checkout", "--ours", str(path))
    git(vault.root, "add", "-A")
    git(vault.root, "commit", "-qm", "ours")
    vault.ws.scan()
    assert [(h["operation"], h["lifecycle"]) for h in vault.history(tea)] == [
        ("knowledge_withdraw", "withdrawn"),
        ("knowledge_save_page", "active"),
    ]


def test_two_corrections_of_one_claim_have_one_successor_in_every_clone(
    vault: VaultBox, folder: Path
) -> None:
    tea = vault.page("Tea")
    said = vault.claim(tea, "Tea is green.")
    clone = Clone(vault, folder / "clone")
    first = vault.correct(said, vault.claim_values(tea, "Tea is black."))["replacementId"]
    clone.correct(said, clone.claim_values(tea, "Tea is white."))
    for box in (vault, clone):
        box.ws.outbox.drain()
    for into, source in ((vault, clone), (clone, vault)):
        git(into.root, "pull", "-q", "--no-rebase", str(source.root), "main", fails=True)
        git(into.root, "checkout", "--ours", ".", fails=True)
        git(into.root, "add", "-A")
        git(into.root, "commit", "-qm", "ours", fails=True)
        into.ws.scan()
        into.ws.outbox.drain()
    assert {box.get(said)["supersededBy"] for box in (vault, clone)} == {first}
    clone.ws.close()


def test_a_joined_history_recovers_without_a_false_alarm(
    vault: VaultBox, clone: Clone, folder: Path
) -> None:
    vault.page("Tea")
    vault.page("Coffee")
    clone.page("Milk")
    pull(clone, vault)
    clone.page("Sugar")
    pull(vault, clone)
    vault.ws.scan()
    vault.ws.outbox.drain()
    git(folder, "clone", "-q", str(vault.root), str(folder / "third"))
    assert care.recover(folder / "third")["unproven"] == []


def resolved(into: VaultBox, source: VaultBox) -> None:
    """Pull, and take the other clone's text wherever Git cannot join the two."""
    for box in (into, source):
        box.ws.outbox.drain()
    git(
        into.root,
        "pull",
        "-q",
        "--no-rebase",
        "--no-edit",
        "-X",
        "theirs",
        str(source.root),
        "main",
    )


def standing(box: VaultBox, *pages: str) -> dict[str, str]:
    box.ws.scan()
    return {page: box.get(page)["id"] for page in pages}


def test_of_two_merges_of_one_page_the_earlier_stands_in_every_clone(
    vault: VaultBox, folder: Path
) -> None:
    ada, adda, countess = vault.page("Ada"), vault.page("Adda"), vault.page("Countess")
    clone = Clone(vault, folder / "twice")
    clone.merge(countess, adda)
    vault.merge(ada, adda)
    resolved(vault, clone)
    here = standing(vault, ada, adda, countess)
    pull(clone, vault)
    assert here == standing(clone, ada, adda, countess)
    assert here == {ada: ada, adda: countess, countess: countess}
    third = Clone(vault, folder / "third")
    assert standing(third, ada, adda, countess) == here
    clone.ws.close()
    third.ws.close()


def test_two_pages_that_were_merged_crosswise_are_one_in_every_clone(
    vault: VaultBox, folder: Path
) -> None:
    ada, adda = vault.page("Ada"), vault.page("Adda")
    clone = Clone(vault, folder / "crosswise")
    vault.merge(ada, adda)
    clone.merge(adda, ada)
    resolved(vault, clone)
    here = standing(vault, ada, adda)
    pull(clone, vault)
    assert here == standing(clone, ada, adda) == {ada: ada, adda: ada}
    assert vault.listed() == clone.listed() == {ada}
    assert {f["code"] for f in vault.findings()} <= {"lifecycle_edited", "guard_contradicted"}
    third = Clone(vault, folder / "third")
    assert standing(third, ada, adda) == here
    clone.ws.close()
    third.ws.close()
