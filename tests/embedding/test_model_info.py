from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from vault_kg.embedding.convert import convert
from vault_kg.embedding.model_info import sidecar, stamped_info
from vault_kg.errors import NotFound, Unavailable


def test_a_model_is_described_without_being_loaded(tiny_gguf: Path) -> None:
    _, info = stamped_info(tiny_gguf)
    assert (info.name, info.dimension, info.context_tokens, info.pooling) == (
        "tiny",
        32,
        64,
        "mean",
    )
    assert (info.query_prefix, info.passage_prefix) == ("", "")
    assert len(info.fingerprint) == 64


def test_the_same_bytes_elsewhere_have_the_same_fingerprint(
    tiny_gguf: Path, tiny_copy: Path
) -> None:
    assert stamped_info(tiny_gguf)[1].fingerprint == stamped_info(tiny_copy)[1].fingerprint


def test_other_weights_of_the_same_shape_have_another_fingerprint(tiny_copy: Path) -> None:
    before = stamped_info(tiny_copy)[1]
    content = bytearray(tiny_copy.read_bytes())
    content[-1] ^= 1
    tiny_copy.write_bytes(content)
    os.utime(tiny_copy, ns=(1, 1))
    after = stamped_info(tiny_copy)[1]
    assert before.dimension == after.dimension
    assert before.fingerprint != after.fingerprint


def test_another_prefix_is_another_fingerprint(tiny_copy: Path) -> None:
    before = stamped_info(tiny_copy)[1]
    sidecar(tiny_copy).write_text(json.dumps({"query_prefix": "query: "}))
    os.utime(tiny_copy, ns=(1, 1))
    after = stamped_info(tiny_copy)[1]
    assert after.query_prefix == "query: "
    assert before.fingerprint != after.fingerprint


def test_a_model_that_is_not_what_was_installed_is_damaged(tiny_copy: Path) -> None:
    sidecar(tiny_copy).write_text(json.dumps({"sha256": "0" * 64}))
    with pytest.raises(Unavailable, match="is damaged"):
        stamped_info(tiny_copy)


def test_a_missing_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"gone\.gguf is not there"):
        stamped_info(tmp_path / "gone.gguf")


@pytest.mark.parametrize(
    ("name", "query", "passage"),
    [
        ("multilingual-e5-small", "query: ", "passage: "),
        ("nomic-embed-text-v1.5", "search_query: ", "search_document: "),
        ("multilingual-e5-large-instruct", "", ""),
        ("bge-m3", "", ""),
    ],
)
def test_a_family_with_prefixes_is_known_by_its_name(
    tiny_folder: Path, tmp_path: Path, name: str, query: str, passage: str
) -> None:
    convert(tiny_folder, tmp_path / "m.gguf", name=name)
    _, info = stamped_info(tmp_path / "m.gguf")
    assert (info.query_prefix, info.passage_prefix) == (query, passage)


def test_the_note_beside_a_model_overrules_its_family(tiny_folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    convert(tiny_folder, path, name="multilingual-e5-small")
    sidecar(path).write_text(json.dumps({"query_prefix": "", "passage_prefix": "p: "}))
    _, info = stamped_info(path)
    assert (info.query_prefix, info.passage_prefix) == ("", "p: ")
