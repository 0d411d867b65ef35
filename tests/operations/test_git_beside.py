"""What a person does with Git beside the vault: conflicts, a lost `.git`, filters."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from tests.operations.builder import VaultBox
from vault_kg.errors import InvalidRecord

MARKERS = "<<<<<<< HEAD\nOurs.\n=======\nTheirs.\n>>>>>>> side\n"
THREE = "<<<<<<< HEAD\nOurs.\n||||||| base\nOld.\n=======\nTheirs.\n>>>>>>> side\n"


def git(vault: VaultBox, *arguments: str) -> int:
    named = ("-c", "user.name=me", "-c", "user.email=me@example.org")
    done = subprocess.run(["git", *named, *arguments], cwd=vault.root, capture_output=True)
    return done.returncode


# Conflicts


def merge_on_two_branches(vault: VaultBox, record: str, old: str, ours: str, theirs: str) -> None:
    """Edit one line on two branches by hand, and let Git merge them."""
    git(vault, "checkout", "-q", "-b", "side")
    vault.edit(record, old, theirs)
    assert git(vault, "commit", "-qam", "theirs") == 0
    git(vault, "checkout", "-q", "main")
    vault.edit(record, old, ours)
    assert git(vault, "commit", "-qam", "ours") == 0
    assert git(vault, "merge", "side") != 0


def test_a_body_with_conflict_markers_is_found_and_not_shown(vault: VaultBox) -> None:
    page = vault.page(body="Before.")
    merge_on_two_branches(vault, page, "Before.", "Ours.", "Theirs.")
    vault.scan()
    (finding,) = vault.findings("merge_markers")
    lines = vault.path(page).read_text().splitlines()
    assert lines[finding["line"] - 1] == "<<<<<<< HEAD"
    assert (finding["severity"], finding["record"]) == ("error", page)
    assert "Git conflict" in finding["message"] and finding["hint"]
    assert page not in vault.listed()
    assert vault.call("knowledge_search", query="theirs")["total"] == 0
    assert not vault.get(page)["eligible"]
    git(vault, "checkout", "--theirs", ".")
    git(vault, "commit", "-qam", "merged")
    vault.scan()
    assert vault.get(page)["body"] == "Theirs." and vault.findings() == []


def test_a_conflict_in_the_front_matter_is_called_one(vault: VaultBox) -> None:
    page = vault.page(summary="Before.")
    merge_on_two_branches(vault, page, "summary: Before.", "summary: Ours.", "summary: Theirs.")
    vault.scan()
    (finding,) = vault.findings("broken_front_matter")
    assert "Git conflict" in finding["message"]
    lines = vault.path(page).read_text().splitlines()
    assert lines[finding["line"] - 1] == "<<<<<<< HEAD"
    refused = vault.refused("knowledge_get", id=page)
    assert isinstance(refused, InvalidRecord) and "Git conflict" in refused.message


def test_a_file_that_is_a_conflict_from_its_first_line_is_no_note(vault: VaultBox) -> None:
    page = vault.page()
    path, whole = vault.path(page), vault.path(page).read_text()
    path.write_text(f"<<<<<<< HEAD\n{whole}=======\n{whole}>>>>>>> side\n")
    vault.scan()
    (finding,) = vault.findings()
    assert (finding["code"], finding["line"]) == ("broken_front_matter", 1)
    assert "Git conflict" in finding["message"]
    refused = vault.refused("knowledge_get", id=page)
    assert isinstance(refused, InvalidRecord) and refused.data["line"] == 1
    assert "Git conflict" in refused.message and "marker lines" in refused.message


def test_status_says_what_git_is_in_the_middle_of_and_what_to_run(vault: VaultBox) -> None:
    page = vault.page(body="Before.")
    told = vault.call("knowledge_status")
    assert (told["git"]["operation"], told["git"]["conflicted"]) == (None, 0)
    assert told["nextSteps"] == [] and told["findings"] == {"errors": 0, "warnings": 0}
    merge_on_two_branches(vault, page, "Before.", "Ours.", "Theirs.")
    vault.scan()
    told = vault.call("knowledge_status")
    assert (told["git"]["operation"], told["git"]["conflicted"]) == ("merge", 1)
    assert told["findings"] == {"errors": 1, "warnings": 0}
    merge, findings = told["nextSteps"]
    assert "merge" in merge["why"] and "1 file" in merge["why"] and merge["run"] == "git status"
    assert findings == {"why": "1 error to look at", "run": "vault-kg diagnostics"}
    git(vault, "checkout", "--theirs", ".")
    git(vault, "commit", "-qam", "merged")
    vault.scan()
    told = vault.call("knowledge_status")
    assert told["nextSteps"] == [] and told["git"]["operation"] is None
    assert git(vault, "checkout", "-q", "side") == 0
    vault.edit(page, "Theirs.", "Others.")
    git(vault, "commit", "-qam", "others")
    git(vault, "cherry-pick", "main^{/^ours}")
    (step, *_) = vault.call("knowledge_status")["nextSteps"]
    assert "cherry-pick" in step["why"]


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (MARKERS, True),
        (THREE, True),
        (MARKERS.replace("\n", "\r\n"), True),
        (f"Text.\n\n```\ncode\n```\n\n{MARKERS}", True),
        (f"```\n{MARKERS}```\n", False),
        (f"~~~text\n{MARKERS}~~~\n", False),
        (MARKERS.replace("<<<<<<<", "  <<<<<<<"), False),
        (MARKERS.replace(">>>>>>> side\n", ""), False),
        ("Theirs\n=======\n\n>>>>>>> a\n\n<<<<<<< b\n", False),
        (MARKERS.replace("<<<<<<<", "<<<<<<<<"), False),
    ],
)
def test_only_what_git_writes_is_taken_for_a_conflict(
    vault: VaultBox, body: str, found: bool
) -> None:
    page = vault.page(body="Before.")
    path = vault.path(page)
    path.write_bytes(path.read_bytes().replace(b"Before.\n", body.encode()))
    vault.put("notes/a.md", body)
    vault.scan()
    told = {f["path"]: f["severity"] for f in vault.findings("merge_markers")}
    wanted = {vault.relative(path): "error", "notes/a.md": "warning"}
    assert told == (wanted if found else {})
    assert (page in vault.listed()) is not found


def test_markers_are_not_written_and_what_has_them_can_be_changed_and_withdrawn(
    vault: VaultBox,
) -> None:
    page, other = vault.page(body="Before."), vault.page("Other", body="Text.")
    refused = vault.refused("knowledge_save_page", **vault.fence(page), body=MARKERS)
    assert isinstance(refused, InvalidRecord) and "Git conflict" in refused.message
    for record, text in ((page, "Before.\n"), (other, "Text.\n")):
        vault.edit(record, text, MARKERS)
    vault.scan()
    vault.change(page, summary="Still mine.")
    vault.change(page, body="Decided.")
    assert page in vault.listed()
    vault.withdraw(other)
    assert vault.get(other)["lifecycle"] == "withdrawn"


# Files that are in no commit


def test_a_vault_whose_git_was_removed_says_what_is_in_no_commit(vault: VaultBox) -> None:
    pages = [vault.page(f"Page {n}") for n in range(3)]
    told = vault.call("knowledge_status")["git"]
    assert (told["pending"], told["reason"], told["inNoCommit"]) == (0, None, 0)
    shutil.rmtree(vault.root / ".git")
    vault.page("New")
    told = vault.call("knowledge_status")["git"]
    assert told["inNoCommit"] == 3 and told["pending"] == 0
    assert "3 files of the vault are in no commit" in told["reason"]
    (finding,) = vault.findings()
    assert finding["code"] == "in_no_commit" and finding["path"] == vault.relative(
        vault.path(pages[0])
    )
    command = finding["hint"].partition("`git init")[2].removesuffix("`")
    named = "-c user.name=me -c user.email=me@example.org"
    subprocess.run(
        f"git init{command}".replace("git commit", f"git {named} commit"),
        shell=True, cwd=vault.root, check=True, capture_output=True,
    )  # fmt: skip
    assert vault.findings() == [] and vault.call("knowledge_status")["git"]["inNoCommit"] == 0
    assert ".vault-kg/vault.toml" in vault.git("ls-tree", "-r", "--name-only", "HEAD")


def test_a_branch_that_began_anew_says_what_it_lacks(vault: VaultBox) -> None:
    vault.page("One")
    git(vault, "checkout", "-q", "--orphan", "fresh")
    assert vault.call("knowledge_status")["git"]["inNoCommit"] == 1
    vault.page("Two")
    assert vault.findings("in_no_commit", section="git")
    git(vault, "checkout", "-qf", "main")
    vault.scan()
    assert vault.findings("in_no_commit") == []


def test_what_waits_for_git_is_not_told_twice(vault: VaultBox) -> None:
    vault.page("One")
    (vault.root / ".git/index.lock").write_text("")
    (vault.root / ".git/HEAD.lock").write_text("")
    vault.page("Two")
    git_says = vault.call("knowledge_status")["git"]
    assert git_says["inNoCommit"] == 0
    assert vault.findings("in_no_commit") == []


# Filters


@pytest.mark.parametrize(
    ("where", "text", "line"),
    [
        (".gitattributes", "*.png filter=lfs\nmain/** filter=crypt diff=crypt\n", 2),
        (".gitattributes", "[attr]secret filter=crypt\n# more\n*.md secret\n", 3),
        ("main/pages/.gitattributes", "person/*.md filter=crypt\n", 1),
        (".gitattributes", "*.md -filter\n*.md filter=crypt\n", 2),
        (".gitattributes", "* text=auto\n*.png filter=lfs\nmain/ filter=crypt\n", None),
        (".gitattributes", "*.md filter=crypt\n*.md -filter\n", None),
        (".gitattributes", "notes/** filter=crypt\n", None),
    ],
)
def test_a_filter_for_markdown_files_is_warned_of(
    vault: VaultBox, where: str, text: str, line: int | None
) -> None:
    page = vault.page()
    vault.put(where, text)
    told = vault.findings("git_filter")
    asked = vault.git("check-attr", "filter", vault.relative(vault.path(page)))
    assert asked.endswith("crypt") is (line is not None), "as Git itself reads it"
    assert [(f["path"], f["line"]) for f in told] == ([(where, line)] if line else [])
    for finding in told:
        assert "crypt" in finding["message"] and finding["severity"] == "warning"
        assert finding["hint"]
