from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_kg.embedding.protocol import BrokenFrame, read_frame, write_frame

headers = st.dictionaries(st.text(), st.text() | st.integers() | st.lists(st.text()))


@given(st.lists(st.tuples(headers, st.binary())))
def test_frames_arrive_as_they_were_sent_and_in_order(frames: list[tuple[dict, bytes]]) -> None:
    pipe = io.BytesIO()
    for header, payload in frames:
        write_frame(pipe, header, payload)
    pipe.seek(0)
    assert [read_frame(pipe) for _ in frames] == frames
    assert read_frame(pipe) is None


@given(headers, st.binary(), st.data())
def test_a_pipe_that_ends_inside_a_frame_is_told(
    header: dict, payload: bytes, data: st.DataObject
) -> None:
    pipe = io.BytesIO()
    write_frame(pipe, header, payload)
    whole = pipe.getvalue()
    cut = whole[: data.draw(st.integers(1, len(whole) - 1))]
    with pytest.raises(BrokenFrame):
        read_frame(io.BytesIO(cut))


@pytest.mark.parametrize("text", [b"{", b"[]", b"\xff"])
def test_a_header_that_is_no_object_is_told(text: bytes) -> None:
    frame = len(text).to_bytes(4, "big") + bytes(4) + text
    with pytest.raises(BrokenFrame):
        read_frame(io.BytesIO(frame))
