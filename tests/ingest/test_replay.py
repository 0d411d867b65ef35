"""A recording answers what was asked, and is loud about everything else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.ingest.conftest import Library
from tests.ingest.oracle import Oracle
from vault_kg.errors import Unavailable
from vault_kg.ingest import configured
from vault_kg.ingest.asking import Question
from vault_kg.ingest.replay import Recorded, Replayed

TEXT = "Ada Lovelace wrote the notes in 1843.\n"


def never() -> bool:
    return False


@pytest.fixture
def recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What a model said of the text, recorded; ingestion replays it."""
    path = tmp_path / "answers.jsonl"
    oracle = Oracle(context_tokens=4_096).thing("Ada Lovelace")
    oracle.claim("Ada Lovelace", "Ada Lovelace wrote the notes in 1843.")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(configured, "extractor", lambda: Recorded(oracle, path))
        box = Library(tmp_path / "recorded")
        box.ingest(TEXT, dry_run=True)
        box.ws.close()
    monkeypatch.setenv(configured.REPLAY, str(path))
    return path


def test_what_was_recorded_is_said_again(vault: Library, recording: Path) -> None:
    done = vault.ingest(TEXT)
    assert done["claims_extracted"] == 1 and done["model"] == "replay:answers.jsonl"
    assert configured.extractor().context_tokens == 4_096


def test_another_text_is_a_miss_and_nothing_is_retained(vault: Library, recording: Path) -> None:
    with (
        vault.nothing_changes(),
        pytest.raises(Unavailable, match="has no answer to this question"),
    ):
        vault.ingest(TEXT.replace("1843", "1844"))


def test_another_vocabulary_is_a_miss(vault: Library, recording: Path) -> None:
    vault.put("ontology.yaml", "page_types:\n  Ship: {description: A vessel.}\n")
    vault.scan()
    with pytest.raises(Unavailable, match="has no answer to this question"):
        vault.ingest(TEXT)


def test_another_name_of_the_document_is_a_miss(vault: Library, recording: Path) -> None:
    with pytest.raises(Unavailable, match="has no answer to this question"):
        vault.ingest(TEXT, "other.md")


@pytest.mark.parametrize("content", [None, "no json\n", '{"answer": "{}"}\n', "[]\n"])
def test_a_recording_that_cannot_be_read_is_an_error(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "answers.jsonl"
    if content is not None:
        path.write_text(content)
    with pytest.raises(Unavailable, match="cannot be read"):
        Replayed(path)


def test_the_key_is_of_the_prompt_the_text_and_the_form() -> None:
    question = Question("s", "u", {"type": "object"})
    others = [Question("S", "u", {"type": "object"}), Question("s", "U", {"type": "object"}),
              Question("s", "u", {"type": "array"})]  # fmt: skip
    assert question.key == Question("s", "u", {"type": "object"}).key
    assert question.key not in {other.key for other in others}
