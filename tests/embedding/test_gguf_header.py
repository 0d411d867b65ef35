from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vault_kg.embedding.gguf_header import NotGguf, read_header


def test_the_header_tells_architecture_dimension_context_and_pooling(tiny_gguf: Path) -> None:
    header = read_header(tiny_gguf)
    assert header["general.architecture"] == "bert"
    assert header["bert.embedding_length"] == 32
    assert header["bert.context_length"] == 64
    assert header["bert.pooling_type"] == 1
    assert header["bert.attention.causal"] is False


def test_an_array_is_told_by_its_length(tiny_gguf: Path) -> None:
    header = read_header(tiny_gguf)
    assert header["tokenizer.ggml.tokens"] == header["tokenizer.ggml.token_type"] > 40


@pytest.mark.parametrize("content", [b"", b"GG", b"GGUF", b"PK\x03\x04zip", b"GGUF\x63\0\0\0"])
def test_a_file_that_is_something_else_is_named_in_the_refusal(
    tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(content)
    with pytest.raises(NotGguf, match=r"model\.gguf is not a usable GGUF model"):
        read_header(path)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_a_damaged_header_is_refused_or_read_and_never_anything_else(
    tiny_gguf: Path, tmp_path: Path, data: st.DataObject
) -> None:
    content = bytearray(tiny_gguf.read_bytes()[:1500])
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] = data.draw(st.integers(0, 255))
    path = tmp_path / "damaged.gguf"
    path.write_bytes(content[: data.draw(st.integers(0, len(content)))])
    with contextlib.suppress(NotGguf):
        read_header(path)
