"""How a text becomes windows of tokens, windows become batches, and vectors become one again.

A text longer than the model's context is never cut: it is split into windows of equal length, and
its vector is the mean of theirs, weighted by their tokens. With mean pooling that is the mean over
all tokens of the text, as for a short one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Tokens = NDArray[np.int32]
    Vectors = NDArray[np.float32]

PIECE_CHARS = 100_000


def pieces(text: str) -> list[str]:
    """Split a huge text at white space, so that tokenizing it takes many short calls."""
    found = []
    start = 0
    while len(text) - start > PIECE_CHARS:
        end = start + PIECE_CHARS
        space = max(text.rfind(" ", start + 1, end), text.rfind("\n", start + 1, end))
        end = space if space > 0 else end
        found.append(text[start:end])
        start = end
    found.append(text[start:])
    return found


def split(tokens: Tokens, prefix: Tokens, room: int) -> list[Tokens]:
    """Split the tokens of a text into windows of equal length.

    Args:
        tokens: The text's tokens, `prefix` included.
        prefix: Tokens that every window begins with (the model's passage prefix).
        room: The most tokens of a window.

    Returns:
        At least one window; all of them begin with what `tokens` and `prefix` have in common.
    """
    import numpy as np

    shared = _common_length(tokens, prefix)
    head, body = tokens[:shared], tokens[shared:]
    count = max(1, -(-len(body) // (room - shared)))
    return [np.concatenate([head, part]) for part in np.array_split(body, count)]


def _common_length(tokens: Tokens, prefix: Tokens) -> int:
    length = min(len(tokens), len(prefix))
    differing = (tokens[:length] != prefix[:length]).nonzero()[0]
    return int(differing[0]) if len(differing) else length


def batches(lengths: Sequence[int], tokens: int, windows: int) -> list[list[int]]:
    """Group windows of like length.

    Args:
        lengths: The length of each window.
        tokens: The most tokens of a batch; a longer window is a batch of its own.
        windows: The most windows of a batch.

    Returns:
        The indexes of the windows of each batch, shortest first.
    """
    groups: list[list[int]] = []
    used = tokens + 1
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        if used + lengths[index] > tokens or len(groups[-1]) >= windows:
            groups.append([])
            used = 0
        groups[-1].append(index)
        used += lengths[index]
    return groups


def runs(lengths: Sequence[int], most: int) -> list[list[int]]:
    """Group neighbours so that no group but one of a single member is longer in all than `most`."""
    groups: list[list[int]] = []
    used = most + 1
    for index, length in enumerate(lengths):
        if used + length > most:
            groups.append([])
            used = 0
        groups[-1].append(index)
        used += length
    return groups


def unit(vectors: Vectors) -> Vectors:
    """Scale each row to length one; a row of zeros stays."""
    import numpy as np

    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: Vectors = vectors / np.maximum(lengths, np.float32(1e-30))
    return scaled
