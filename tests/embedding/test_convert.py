from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from gguf import GGUFReader

from vault_kg.embedding.convert import convert
from vault_kg.errors import InvalidArgument


def test_the_same_model_becomes_the_same_bytes(tiny_folder: Path, tmp_path: Path) -> None:
    for name in ("one.gguf", "two.gguf"):
        convert(tiny_folder, tmp_path / name, name="tiny")
    assert (tmp_path / "one.gguf").read_bytes() == (tmp_path / "two.gguf").read_bytes()


def test_words_get_a_phantom_space_and_continuations_lose_their_marks(tiny_gguf: Path) -> None:
    field = GGUFReader(tiny_gguf).fields["tokenizer.ggml.tokens"]
    tokens = [bytes(field.parts[index]).decode() for index in field.data]
    assert tokens[:5] == ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    assert "\u2581word" in tokens
    assert "ing" in tokens
    assert not any("##" in token for token in tokens)


def test_the_pooler_is_left_out_and_every_other_tensor_is_there(tiny_gguf: Path) -> None:
    names = {tensor.name: tensor.tensor_type.name for tensor in GGUFReader(tiny_gguf).tensors}
    assert len(names) == 5 + 2 * 16
    assert names["token_embd.weight"] == "Q8_0"
    assert names["blk.0.attn_q.weight"] == "F16"
    assert names["position_embd.weight"] == names["blk.1.layer_output_norm.bias"] == "F32"


def test_progress_ends_at_the_whole(tiny_folder: Path, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    convert(
        tiny_folder,
        tmp_path / "m.gguf",
        name="t",
        progress=lambda done, all: seen.append((done, all)),
    )
    assert seen == sorted(seen)
    assert seen[-1][0] > 0.9 * seen[-1][1]


def _changed(folder: Path, target: Path, file: str, **values: object) -> Path:
    shutil.copytree(folder, target)
    path = target / file
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))
    return target


def test_a_model_of_another_family_is_refused(tiny_folder: Path, tmp_path: Path) -> None:
    folder = _changed(tiny_folder, tmp_path / "m", "config.json", model_type="t5")
    with pytest.raises(InvalidArgument, match="'t5' model, not BERT"):
        convert(folder, tmp_path / "m.gguf", name="t")


def test_a_vocabulary_of_another_size_is_refused(tiny_folder: Path, tmp_path: Path) -> None:
    folder = _changed(tiny_folder, tmp_path / "m", "config.json", vocab_size=7)
    with pytest.raises(InvalidArgument, match="and the model has 7"):
        convert(folder, tmp_path / "m.gguf", name="t")


def test_a_pooling_that_llama_has_not_is_refused(tiny_folder: Path, tmp_path: Path) -> None:
    folder = _changed(
        tiny_folder, tmp_path / "m", "1_Pooling/config.json", pooling_mode_mean_tokens=False
    )
    with pytest.raises(InvalidArgument, match="pools in a way"):
        convert(folder, tmp_path / "m.gguf", name="t")
