"""A lost state comes back from Git and the files; what cannot be proved is said."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.operations.builder import VaultBox, made_id, record_file
from tests.store import trials
from tests.store.trials import Call
from vault_kg.errors import Unavailable
from vault_kg.operations.workspace import Workspace
from vault_kg.state.database import Database
from vault_kg.store import vault as vaults
from vault_kg.store.git import GitUnavailable, History
from vault_kg.store.recovery import Report, recover

TABLES = {
    "revision": "SELECT * FROM revision ORDER BY record_id, revision",
    "guard": "SELECT * FROM guard ORDER BY record_id, kind",
    "merge": "SELECT * FROM merge ORDER BY id",
    "contribution": "SELECT * FROM merge_contribution ORDER BY merge, ordinal",
    "catalog": (
        "SELECT path, id, kind, partition, type, title, summary, revision, hash, lifecycle, "
        "owner, from_id, to_id, successor, valid, eligible FROM record ORDER BY path"
    ),
    "finding": "SELECT path, code, severity, message FROM finding ORDER BY path, phase, ordinal",
    "source": "SELECT * FROM source ORDER BY id",
    "journal": (
        "SELECT seq, request_id, operation, partition, actor, reason, payload_hash, state, "
        "published_at, commit_id FROM journal WHERE commit_id IS NOT NULL ORDER BY seq"
    ),
}


def dump(box: VaultBox) -> dict[str, list[tuple[Any, ...]]]:
    return {name: box.ws.database.rows(sql) for name, sql in TABLES.items()}


def forget(root: Path) -> None:
    for left in (root / ".vault-kg").glob("state.sqlite*"):
        left.unlink()


def recovered(root: Path) -> Report:
    with History(root) as history:
        return recover(root, history)


@pytest.fixture
def box(tmp_path: Path) -> Iterator[VaultBox]:
    made = VaultBox(tmp_path / "vault")
    yield made
    made.ws.close()


def lose_and_recover(box: VaultBox) -> Report:
    """Lose the state, recover it, and open the vault again."""
    box.ws.close()
    forget(box.root)
    files = box.files()
    report = recovered(box.root)
    assert box.files() == files, "recovery changes no file"
    box.ws = Workspace.open(box.root, clock=box.clock)
    return report


def history_of_everything(box: VaultBox) -> None:
    """Do everything that can be done to a vault, by operations and by hand."""
    ada, augusta = box.page("Ada", body="Text."), box.page("Augusta", aliases=["wikidata:Q7259"])
    countess = box.page("Countess", tags=["noble"])
    charles = box.page("Charles")
    claims = [box.claim(ada, f"Statement {n}.") for n in range(4)]
    knows = box.relationship(ada, charles)
    box.change(ada, summary="A mathematician.")
    box.write("knowledge_edit_body", **box.fence(ada), edits=[{"find": "Text", "replace": "Prose"}])
    box.correct(claims[0], box.claim_values(ada, "A better statement."))
    box.correct(knows, box.relationship_values(ada, charles))
    box.withdraw(claims[1], reason="It was\na line-broken reason: with a colon")
    box.merge(augusta, countess)
    box.merge(ada, augusta)
    box.unmerge(augusta)
    box.unmerge(countess)
    box.merge(ada, countess, body="One text.", title="Ada Lovelace")
    box.correct(claims[2], box.claim_values(ada, "Superseded."))
    box.withdraw(claims[2], reason="and withdrawn")
    by_hand(box, ada, charles, claims[3])
    large_import(box)
    box.put("notes/loose.md", "# Loose\n\nText.\n")
    box.scan()
    box.write("knowledge_adopt", path="notes/loose.md", type="Document")
    conflict(box, augusta)
    box.scan()


def by_hand(box: VaultBox, ada: str, charles: str, claim: str) -> None:
    box.edit(ada, "One text.", "One text, by hand.")
    box.scan()
    moved = box.path(charles)
    moved.rename(moved.with_name("moved.md"))
    box.scan()
    moved = box.path(charles)
    moved.write_bytes(moved.read_bytes() + b"\nMoved and edited.\n")
    (box.root / "main/pages/other").mkdir()
    moved.rename(box.root / "main/pages/other/charles.md")
    box.scan()
    box.path(claim).unlink()
    box.scan()
    box.write("knowledge_restore", id=claim)
    box.edit(ada, "lifecycle: active", "lifecycle: withdrawn")
    box.scan()
    box.edit(ada, "lifecycle: withdrawn", "lifecycle: active")
    box.scan()
    copied = box.path(claim)
    copied.with_name("copied.md").write_bytes(copied.read_bytes())
    box.scan()
    text = box.path(charles).read_text().replace(charles, made_id(999))
    box.path(charles).write_text(text)
    box.scan()


def large_import(box: VaultBox) -> None:
    """More files at once than a commit lists in full, moved, copied and inactive ones too."""
    for n in range(30):
        lifecycle = {3: "withdrawn", 4: "superseded", 5: "merged"}.get(n, "active")
        into = {"merged_into": made_id(6)} if lifecycle == "merged" else {}
        text = record_file(made_id(n), title=f"Import {n}", lifecycle=lifecycle, **into)
        box.put(
            f"main/pages/person/import-{n}.md", text.replace("revision: 1", f"revision: {n + 1}")
        )
    box.put("other/pages/person/copy.md", (box.root / "main/pages/person/import-7.md").read_text())
    box.scan()
    for n in range(8, 30):
        path = box.root / f"main/pages/person/import-{n}.md"
        path.write_bytes(path.read_bytes() + b"\nMore.\n")
    moved = box.root / "main/pages/person/import-1.md"
    moved.rename(moved.with_name("import-moved.md"))
    box.scan()


def conflict(box: VaultBox, page: str) -> None:
    """A request that met an edit, and was applied by a person."""
    call = Call(
        "knowledge_save_page", {"requestId": "met", **box.fence(page), "summary": "Proposed."}
    )
    box.ws.close()
    child = trials.start(box.root, call, "accept.after=pause")
    child.wait_for_pause()
    box.path(page).write_bytes(box.path(page).read_bytes() + b"\nMeanwhile.\n")
    data = child.go_on()["error"]["data"]
    box.ws = Workspace.open(box.root, clock=box.clock)
    choose = {"conflictId": data["conflict_id"], "choice": "apply_proposed", "reason": "right"}
    box.write("knowledge_review", **choose)


def test_everything_comes_back_as_it_was(box: VaultBox) -> None:
    history_of_everything(box)
    before = dump(box)
    position = box.position
    report = lose_and_recover(box)
    assert report.unproven == []
    box.scan()
    after = dump(box)
    for table, rows in before.items():
        assert after[table] == rows, table
    assert box.position == position, "the scan finds nothing that was not known"
    assert report.revisions == len(before["revision"])
    trials.check_whole(box)
    trials.check_git(box)


def test_a_second_loss_is_no_worse_than_the_first(box: VaultBox) -> None:
    history_of_everything(box)
    lose_and_recover(box)
    box.scan()
    page = box.page("After the first")
    box.withdraw(page)
    before = dump(box)
    assert lose_and_recover(box).unproven == []
    box.scan()
    assert dump(box) == before


def test_requests_that_were_answered_are_answered_again(box: VaultBox) -> None:
    ada = box.page("Ada")
    claim, other = box.claim(ada), box.claim(ada, "Another.")
    requests = [
        ("knowledge_save_page", {**box.fence(ada), "summary": "A mathematician."}),
        ("knowledge_correct", box.correction(claim, box.claim_values(ada, "Better."))),
        ("knowledge_withdraw", {**box.fence(other), "reason": "not so"}),
        ("knowledge_save_page", {"type": "Person", "title": "Charles"}),
    ]
    calls = [Call(o, {**a, "requestId": f"again-{n}"}) for n, (o, a) in enumerate(requests)]
    first = [trials.perform(box.ws, call) for call in calls]
    lose_and_recover(box)
    box.scan()
    position = box.position
    again = [trials.perform(box.ws, call) for call in calls]
    for old, new in zip(first, again, strict=True):
        assert without_impact(new) == without_impact(old)
    assert box.position == position
    changed = Call(calls[0].operation, calls[0].arguments | {"summary": "Another."})
    assert trials.perform(box.ws, changed)["error"]["code"] == "request_mismatch"


def without_impact(answer: dict[str, Any]) -> dict[str, Any]:
    assert "error" not in answer, answer
    return {key: value for key, value in answer.items() if key != "impact"}


def test_without_its_state_a_vault_is_unavailable(box: VaultBox) -> None:
    box.page("Ada")
    box.ws.close()
    forget(box.root)
    with pytest.raises(Unavailable, match="vault-kg recover"):
        Workspace.open(box.root)
    assert not (box.root / ".vault-kg/state.sqlite").exists(), "it is not started empty"
    recovered(box.root)
    box.ws = Workspace.open(box.root)


@pytest.mark.parametrize(
    ("content", "said"), [(b"no database" * 900, "is damaged"), (b"", "is empty")]
)
def test_a_state_that_is_none_is_unavailable_and_says_what_to_do(
    box: VaultBox, content: bytes, said: str
) -> None:
    box.ws.close()
    state = box.root / ".vault-kg/state.sqlite"
    for path in state.parent.glob("state.sqlite*"):
        path.unlink()
    state.write_bytes(content)
    with pytest.raises(Unavailable) as caught:
        Workspace.open(box.root)
    assert said in caught.value.message and "vault-kg recover" in caught.value.message
    assert caught.value.data["path"] == str(state)


def test_a_state_that_is_taken_away_while_it_is_open_takes_no_more_writes(box: VaultBox) -> None:
    box.page("Ada")
    forget(box.root)
    files = box.files()
    answer = trials.perform(
        box.ws, Call("knowledge_save_page", {"requestId": "late", "type": "Person", "title": "B"})
    )
    assert answer["error"]["code"] == "unavailable"
    assert "vault-kg recover" in answer["error"]["message"]
    assert box.files() == files
    recovered(box.root)
    answer = trials.perform(
        box.ws, Call("knowledge_save_page", {"requestId": "late", "type": "Person", "title": "B"})
    )
    assert answer["error"]["code"] == "unavailable", "another state is not written to either"
    box.reopen()
    box.page("Charles")


def test_the_whole_private_folder_can_be_lost(box: VaultBox) -> None:
    ada = box.page("Ada")
    box.withdraw(box.claim(ada))
    before, identity = dump(box), vaults.identity(box.root)
    box.ws.close()
    shutil.rmtree(box.root / ".vault-kg")
    report = recovered(box.root)
    assert report.unproven == []
    assert vaults.identity(box.root) == identity
    assert (box.root / ".vault-kg").stat().st_mode & 0o77 == 0
    box.ws = Workspace.open(box.root, clock=box.clock)
    box.scan()
    assert dump(box) == before
    trials.check_git(box)


def test_the_identity_is_in_git_though_the_first_requests_came_to_nothing(tmp_path: Path) -> None:
    box = VaultBox(tmp_path / "vault")
    database = box.ws.database
    with database.write():
        database.execute(
            "INSERT INTO journal (request_id, operation, partition, actor, payload_hash, payload, "
            "effects, state, accepted_at) VALUES ('x','x','','x','','{}','{}','abandoned','')"
        )
    box.page("Ada")
    assert "va_" in box.git("show", "HEAD:.vault-kg/vault.toml")
    box.ws.close()


def test_where_nothing_says_which_vault_it_is_recovery_is_refused(tmp_path: Path) -> None:
    with History(tmp_path) as history, pytest.raises(Unavailable, match="which vault"):
        recover(tmp_path, history)
    assert list(tmp_path.iterdir()) == []


def test_a_state_that_is_there_is_not_touched(box: VaultBox) -> None:
    box.page("Ada")
    with History(box.root) as history, pytest.raises(Unavailable, match="is there"):
        recover(box.root, history)
    assert box.listed()


def test_what_is_left_of_the_lost_state_does_not_get_into_the_new_one(box: VaultBox) -> None:
    """A write-ahead log without its database would be played into the next one of that name."""
    ada = box.page("Ada")
    before = dump(box)
    state = box.root / ".vault-kg/state.sqlite"
    wal = Path(f"{state}-wal").read_bytes()
    assert wal, "the log holds something while the vault is open"
    box.ws.close()
    forget(box.root)
    Path(f"{state}-wal").write_bytes(wal)
    Path(f"{state}-shm").write_bytes(b"\0" * 32768)
    Path(f"{state}.recovering-wal").write_bytes(wal)
    report = recovered(box.root)
    assert any("-wal.lost" in doubt for doubt in report.unproven)
    assert Path(f"{state}-wal.lost").read_bytes() == wal
    box.ws = Workspace.open(box.root, clock=box.clock)
    box.scan()
    assert dump(box) == before
    assert box.get(ada)["title"] == "Ada"
    assert box.ws.database.value("PRAGMA integrity_check") == "ok"


# What cannot be proved


def test_a_withdrawal_that_never_reached_git_is_believed_and_reported(
    box: VaultBox, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, augusta = box.page("Ada"), box.page("Augusta")
    claims = [box.claim(ada, f"Statement {n}.") for n in range(3)]
    corrected = box.claim(augusta, "Wrong.")
    without_git(monkeypatch, box)
    box.withdraw(claims[0], reason="not so")
    box.correct(corrected, box.claim_values(augusta, "Right."))
    box.merge(ada, augusta)
    box.ws.close()
    monkeypatch.undo()
    report = lose_and_recover(box)
    told = " ".join(report.unproven)
    assert all(record in told for record in (claims[0], corrected, augusta))
    assert claims[1] not in told
    assert (report.guards, report.merges) == (2, 1)
    box.scan()
    assert claims[0] not in box.listed() and corrected not in box.listed()
    assert box.get(claims[0])["lifecycle"] == "withdrawn"
    assert box.get(augusta)["id"] == ada
    assert claims[1] in box.listed()
    path = box.path(claims[0])
    path.write_text(path.read_text().replace("lifecycle: withdrawn", "lifecycle: active"))
    box.scan()
    assert claims[0] not in box.listed(), "the guard holds from now on"
    box.page("Something new")
    trials.check_git(box)
    assert lose_and_recover(box).guards == 2, "and Git tells of it"


def without_git(monkeypatch: pytest.MonkeyPatch, box: VaultBox) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    box.reopen()


def test_files_that_are_not_what_git_has_are_named_and_taken_in_as_edits(box: VaultBox) -> None:
    ada, charles = box.page("Ada", body="Text."), box.page("Charles")
    box.edit(ada, "Text.", "Text by hand.")
    box.put("main/pages/person/new.md", record_file(made_id(5), title="New"))
    report = lose_and_recover(box)
    told = " ".join(report.unproven)
    assert ada in told and made_id(5) in told and charles not in told
    box.scan()
    assert box.get(ada)["revision"] == 2
    assert "by hand" in box.get(ada)["body"]
    assert box.get(made_id(5))["title"] == "New"


def test_a_commit_that_was_taken_out_of_the_history_is_missed(box: VaultBox) -> None:
    ada = box.page("Ada")
    claim = box.claim(ada)
    box.withdraw(claim)
    box.page("Charles")
    box.git(
        "-c", "user.name=P", "-c", "user.email=p@example.org", "rebase", "-q", "--onto", "HEAD~2",
        "HEAD~1",
    )  # fmt: skip
    report = lose_and_recover(box)
    assert any(
        "journal entry" in doubt and "not in the history" in doubt for doubt in report.unproven
    )


def test_without_any_history_the_files_are_taken_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = VaultBox(tmp_path / "vault")
    monkeypatch.setenv("PATH", "/nowhere")
    box.reopen()
    ada = box.page("Ada")
    claim = box.claim(ada)
    box.withdraw(claim)
    box.ws.close()
    monkeypatch.undo()
    report = lose_and_recover(box)
    assert any("no Git history" in doubt for doubt in report.unproven)
    box.scan()
    assert box.get(ada)["title"] == "Ada"
    assert claim not in box.listed()
    box.ws.close()


def test_with_git_missing_nothing_is_recovered_and_nothing_is_left(
    box: VaultBox, monkeypatch: pytest.MonkeyPatch
) -> None:
    box.page("Ada")
    box.ws.close()
    forget(box.root)
    with monkeypatch.context() as without:
        without.setenv("PATH", "/nowhere")
        with pytest.raises(GitUnavailable):
            recovered(box.root)
    assert sorted(p.name for p in (box.root / ".vault-kg").iterdir() if "state" in p.name) == []
    recovered(box.root)
    box.ws = Workspace.open(box.root)


def test_files_of_requests_at_work_are_kept_when_the_state_is_lost(box: VaultBox) -> None:
    ada = box.page("Ada")
    call = Call("knowledge_save_page", {"requestId": "r", **box.fence(ada), "summary": "New."})
    box.ws.close()
    trials.crash(box.root, call, "install.exchanged")
    forget(box.root)
    report = recovered(box.root)
    kept = box.root / ".vault-kg/unfinished"
    assert [p.name for p in kept.iterdir()] and any("unfinished" in d for d in report.unproven)
    box.ws = Workspace.open(box.root, clock=box.clock)
    box.scan()
    assert box.get(ada)["summary"] == "New.", "the installed file is an edit now"


def test_a_recovery_that_died_can_be_made_again(box: VaultBox) -> None:
    ada = box.page("Ada")
    before = dump(box)
    box.ws.close()
    forget(box.root)
    unfinished = box.root / ".vault-kg/state.sqlite.recovering"
    Database(unfinished, create=True).close()
    recovered(box.root)
    assert not unfinished.exists()
    box.ws = Workspace.open(box.root, clock=box.clock)
    box.scan()
    assert dump(box) == before and box.get(ada)


def test_trailers_that_a_person_wrote_are_no_danger(box: VaultBox) -> None:
    ada = box.page("Ada")
    message = "by hand\n\n" + "\n".join(
        ["Vault-Seq: 77", "Vault-Revision: [1,2", 'Vault-Guard: {"record_id": "x"}',
         "Vault-Merge: [3]", 'Vault-Request: "p"', "Vault-At: never"]
    )  # fmt: skip
    box.git(
        "-c", "user.name=P", "-c", "user.email=p@example.org", "commit", "-q", "--allow-empty",
        "-m", message,
    )  # fmt: skip
    lose_and_recover(box)
    box.scan()
    assert box.get(ada)["lifecycle"] == "active"
    assert box.page("Charles")


def test_histories_that_were_joined_are_recovered_with_every_guard(tmp_path: Path) -> None:
    """Two clones of one vault were written to apart, and a person merged their branches."""
    box = VaultBox(tmp_path / "vault")
    ada = box.page("Ada")
    claims = [box.claim(ada, f"Statement {n}.") for n in range(2)]
    box.ws.close()
    other = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", str(box.root), str(other)], check=True)
    box.ws = Workspace.open(box.root, clock=box.clock)
    box.withdraw(claims[0], reason="here")
    recovered(other)
    with trials.looking_at(other) as there:
        there.scan()
        there.withdraw(claims[1], reason="there")
    box.git("fetch", "-q", str(other), "main")
    box.git(
        "-c", "user.name=P", "-c", "user.email=p@example.org", "merge", "-q", "-m", "joined",
        "FETCH_HEAD",
    )  # fmt: skip
    report = lose_and_recover(box)
    assert report.guards == 2
    box.scan()
    assert not set(claims) & box.listed()
    box.ws.close()


def test_the_recovery_of_the_sample_is_whole(tmp_path: Path) -> None:
    root = tmp_path / "sample"
    shutil.copytree(Path(__file__).parents[2] / "sample_vault", root)
    box = VaultBox(root)
    before = dump(box)
    assert len(before["revision"]) > 20
    assert lose_and_recover(box).unproven == []
    box.scan()
    assert dump(box) == before
    box.ws.close()
