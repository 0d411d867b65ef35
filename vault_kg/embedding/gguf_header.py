"""The metadata at the head of a GGUF file, read without loading the model or any library."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any, BinaryIO

from vault_kg.errors import Unavailable

_MAGIC = b"GGUF"
_STRING, _ARRAY = 8, 9
_SCALARS = {
    0: "<B",
    1: "<b",
    2: "<H",
    3: "<h",
    4: "<I",
    5: "<i",
    6: "<f",
    7: "<?",
    10: "<Q",
    11: "<q",
    12: "<d",
}
_MAX_KEYS = 65_536
_MAX_STRING = 64 * 1024 * 1024


class NotGguf(Unavailable):
    """The file is not a GGUF file, or is cut short."""


def read_header(path: Path) -> dict[str, Any]:
    """Read every scalar and text key of a GGUF file's metadata.

    Arrays (vocabulary, merges) are skipped; their length stands in for them.

    Args:
        path: The model file.

    Returns:
        The metadata by key, for example `general.architecture`.

    Raises:
        NotGguf: The file is something else, damaged, or of a version that nobody writes any more.
        OSError: The file cannot be read.
    """
    with path.open("rb") as file:
        try:
            return _read(file)
        except (ValueError, MemoryError, OverflowError) as error:
            raise NotGguf(
                f"{path} is not a usable GGUF model: {error}; fetch or copy it again",
                path=str(path),
            ) from error


def _read(file: BinaryIO) -> dict[str, Any]:
    if file.read(4) != _MAGIC:
        raise ValueError("it does not begin with the letters GGUF")
    version = _number(file, "<I")
    if version not in (2, 3):
        raise ValueError(f"its format version is {version}, and 2 and 3 are understood")
    tensors, keys = _number(file, "<Q"), _number(file, "<Q")
    if keys > _MAX_KEYS:
        raise ValueError(f"it claims {keys} metadata keys")
    header: dict[str, Any] = {"tensor_count": tensors}
    for _ in range(keys):
        name = _text(file)
        header[name] = _value(file, _number(file, "<I"))
    return header


def _value(file: BinaryIO, kind: int) -> Any:
    if kind in _SCALARS:
        return _number(file, _SCALARS[kind])
    if kind == _STRING:
        return _text(file)
    if kind == _ARRAY:
        return _skip_array(file)
    raise ValueError(f"it has a metadata value of unknown type {kind}")


def _skip_array(file: BinaryIO) -> int:
    kind, count = _number(file, "<I"), int(_number(file, "<Q"))
    if kind in _SCALARS:
        file.seek(struct.calcsize(_SCALARS[kind]) * count, 1)
        return count
    for _ in range(count):
        if kind == _STRING:
            file.seek(_length(file), 1)
        else:
            _value(file, kind)
    return count


def _text(file: BinaryIO) -> str:
    return _bytes(file, _length(file)).decode("utf-8")


def _length(file: BinaryIO) -> int:
    length = int(_number(file, "<Q"))
    if length > _MAX_STRING:
        raise ValueError(f"it claims a text of {length} bytes")
    return length


def _number(file: BinaryIO, form: str) -> Any:
    return struct.unpack(form, _bytes(file, struct.calcsize(form)))[0]


def _bytes(file: BinaryIO, length: int) -> bytes:
    data = file.read(length)
    if len(data) < length:
        raise ValueError("it ends in the middle of its metadata")
    return data
