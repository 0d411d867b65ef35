"""No model is needed until a text is to be read; then it is said what is missing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.ingest.conftest import Library
from vault_kg.errors import InvalidArgument, Unavailable
from vault_kg.ingest import configured

TEXT = "Ada Lovelace wrote the notes.\n"


def test_without_a_model_only_ingestion_is_refused_and_says_how_to_name_one(vault: Library) -> None:
    with vault.nothing_changes(), pytest.raises(Unavailable) as refused:
        vault.ingest(TEXT)
    assert "VAULT_KG_EXTRACTION_MODEL" in refused.value.message
    assert "vault-kg models fetch extraction" in refused.value.message
    assert refused.value.data["missing"] == "extraction_model"
    vault.page("Ada")


def test_off_is_no_model(vault: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(configured.MODEL, configured.OFF)
    with pytest.raises(Unavailable, match="no extraction model is configured"):
        vault.ingest(TEXT)


@pytest.mark.parametrize(
    ("model", "said"),
    [("no-such-model", "no model is named"), ("./not/there.gguf", "is not installed")],
)
def test_a_model_that_is_not_there_is_named(
    vault: Library, monkeypatch: pytest.MonkeyPatch, model: str, said: str
) -> None:
    monkeypatch.setenv(configured.MODEL, model)
    with vault.nothing_changes(), pytest.raises(Unavailable, match=said):
        vault.ingest(TEXT)


def test_a_file_that_is_no_model_is_told_with_the_reason(
    vault: Library, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("llama_cpp")
    file = tmp_path / "broken.gguf"
    file.write_bytes(b"GGUF?")
    monkeypatch.setenv(configured.MODEL, str(file))
    with vault.nothing_changes(), pytest.raises(Unavailable, match="broken does not start"):
        vault.ingest(TEXT)


def test_an_endpoint_without_its_package_says_what_to_install(
    vault: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(configured.MODEL, "some-model")
    monkeypatch.setenv(configured.ENDPOINT, "http://127.0.0.1:9/v1")
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(Unavailable, match=r"pip install 'vault-kg\[endpoint\]'"):
        vault.ingest(TEXT)


@pytest.mark.parametrize("seconds", ["soon", "0", "-1", "inf", "nan"])
def test_a_deadline_is_a_number_of_seconds(
    vault: Library, monkeypatch: pytest.MonkeyPatch, seconds: str
) -> None:
    monkeypatch.setenv(configured.SECONDS, seconds)
    with pytest.raises(InvalidArgument, match="is no number of seconds"):
        vault.ingest(TEXT)


def test_a_changed_identity_is_refused_before_a_model_is_asked(vault: Library) -> None:
    vault.page("Ada")
    vault.put("ontology.yaml", "page_types:\n  Person: {identity: false}\n")
    vault.scan()
    refused = vault.refusal("process_chunk", chunk_text=TEXT, chunk_id="c", source_file="f")
    assert refused.code == "identity_refused"
