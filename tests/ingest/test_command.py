"""`vault-kg ingest`: files, folders, what is shown, and how it ends."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tests.ingest.oracle import Oracle
from vault_kg.cli import context
from vault_kg.cli.ingesting import ingest
from vault_kg.errors import InvalidArgument, NotFound, Unavailable
from vault_kg.ingest import configured, files
from vault_kg.operations.workspace import Workspace

Run = Callable[..., Result]
ADA = "Ada Lovelace wrote the notes."


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "vault"
    root.mkdir()
    Workspace.create(root).close()
    monkeypatch.chdir(tmp_path)
    return root


@pytest.fixture
def run(root: Path) -> Run:
    def run(*arguments: str, fails: bool = False) -> Result:
        given = ["--vault", str(root), *arguments]
        return CliRunner().invoke(
            ingest, given, obj=context.Settings(), catch_exceptions=fails
        )  # fmt: skip

    return run


@pytest.fixture
def taught(oracle: Oracle) -> Oracle:
    return oracle.thing("Ada Lovelace").thing("Babbage").claim("Ada Lovelace", ADA)


def test_a_file_is_read_and_what_was_written_is_shown(root: Path, run: Run, taught: Oracle) -> None:
    Path("notes.md").write_text(f"# Notes\n\n{ADA}\n")
    done = run("notes.md")
    assert done.exit_code == 0
    first, *rest = done.output.splitlines()
    assert first.startswith("../notes.md  1 page, 1 claim, 0 relationships written ")
    assert f"  + fact Ada Lovelace: {ADA} (line 3)" in rest
    assert run("notes.md").output == "../notes.md  nothing to change\n"


def test_a_folder_is_read_without_records_sources_and_hidden_files(
    root: Path, run: Run, taught: Oracle
) -> None:
    notes = root / "notes"
    (notes / ".hidden").mkdir(parents=True)
    for name in ("a.md", "b.txt", ".hidden/c.md", "d.png", "e.json"):
        (notes / name).write_text(f"{ADA} This is {name}.\n")
    assert run("vault/notes").exit_code == 0
    done = run("vault", "--json")
    result = json.loads(done.output)
    assert [each["source_file"] for each in result["documents"]] == [
        "notes/a.md", "notes/b.txt", "notes/e.json",
    ]  # fmt: skip
    assert not any(each["changed"] for each in result["documents"])


def test_json_that_is_none_is_read_as_text_and_told(root: Path, run: Run, taught: Oracle) -> None:
    Path("chat.json").write_text(f"[{ADA}\n")
    assert "  ! it is no JSON, and was read as plain text: Expecting value: line 1" in (
        run("chat.json").output
    )
    Path("good.json").write_text(json.dumps([{"role": "Ada", "content": ADA}]))
    assert "JSON" not in run("good.json").output


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes in folders")
def test_nobody_waits_for_a_pipe(root: Path, run: Run, taught: Oracle) -> None:
    Path("docs").mkdir()
    Path("docs/a.md").write_text(f"{ADA}\n")
    for name in ("b.md", "c.txt"):
        os.mkfifo(f"docs/{name}")
    done = run("docs", "--json")
    assert [each["source_file"] for each in json.loads(done.output)["documents"]] == [
        "../docs/a.md"
    ]
    with pytest.raises(InvalidArgument, match="not a regular file"):
        run("docs/c.txt")


def test_the_name_of_a_file_is_the_same_from_every_folder(
    root: Path, run: Run, taught: Oracle, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("deep").mkdir()
    Path("deep/notes.md").write_text(f"{ADA}\n")
    run("deep/notes.md")
    monkeypatch.chdir("deep")
    assert run("notes.md").output == "../deep/notes.md  nothing to change\n"


def test_a_dry_run_writes_nothing(root: Path, run: Run, taught: Oracle) -> None:
    Path("notes.md").write_text(f"{ADA}\n")
    done = run("notes.md", "--dry-run")
    assert "1 page, 1 claim, 0 relationships would be written" in done.output
    assert not (root / "main").exists()


def test_what_was_left_out_is_shown_with_its_content(root: Path, run: Run, taught: Oracle) -> None:
    taught.always = {"claims": [{"about": "Ada Lovelace", "kind": "fact", "quote": "she was ill",
                                 "statement": "She was ill."}]}  # fmt: skip
    taught.thing("Ada Lovelace Society", "Company")
    Path("notes.md").write_text(f"{ADA}\n\nThe Ada Lovelace Society met.\n")
    shown = run("notes.md").output
    assert "not kept, the text does not bear it out: fact Ada Lovelace: She was ill." in shown
    assert "? Ada Lovelace Society and Ada Lovelace may be one" in shown


def test_a_document_that_fails_does_not_keep_the_others_back(
    root: Path, run: Run, taught: Oracle
) -> None:
    Path("docs").mkdir()
    Path("docs/a.md").write_bytes(b"\xff\xfe no text")
    Path("docs/b.md").write_text(f"{ADA}\n")
    done = run("docs", "--json")
    result = json.loads(done.output)
    assert done.exit_code == 1
    assert [each["source_file"] for each in result["documents"]] == ["../docs/b.md"]
    assert "is no text in UTF-8" in result["failed"][0]["error"]["message"]


def test_what_was_read_before_a_model_went_away_is_shown(
    root: Path, run: Run, taught: Oracle, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("docs").mkdir()
    Path("docs/a.md").write_text(f"{ADA}\n")
    Path("docs/b.md").write_text(f"{ADA} Again.\n")
    asked = taught.ask

    def once(question: Any, most: int, stopped: Any) -> Any:
        if "Again" in question.user:
            raise Unavailable("it is gone")
        return asked(question, most, stopped)

    monkeypatch.setattr(taught, "ask", once)
    done = run("docs", fails=True)
    assert "../docs/a.md  1 page" in done.output and isinstance(done.exception, Unavailable)


def test_without_a_model_it_says_how_to_name_one(root: Path, run: Run) -> None:
    Path("notes.md").write_text(f"{ADA}\n")
    done = run("notes.md", fails=True)
    assert isinstance(done.exception, Unavailable)
    assert "VAULT_KG_EXTRACTION_MODEL" in done.exception.message


def test_a_model_can_be_named(root: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(configured.MODEL, "off")
    Path("notes.md").write_text(f"{ADA}\n")
    done = run("notes.md", "--model", "no-such", fails=True)
    assert isinstance(done.exception, Unavailable)
    assert "no model is named 'no-such'" in done.exception.message


def test_a_file_that_is_not_there_is_named(root: Path) -> None:
    with pytest.raises(NotFound, match=r"no file or folder gone\.md"):
        files.gather([Path("gone.md")], root)


def test_a_file_named_twice_is_read_once(root: Path) -> None:
    Path("a.md").write_text("x")
    assert len(files.gather([Path("a.md"), Path(), Path("./a.md")], root)) == 1
