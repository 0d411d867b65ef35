"""From the bytes of a Python file to its tree: encodings, and what no parser reads."""

from __future__ import annotations

import ast
import io
import threading
import tokenize
import warnings
from typing import Final

from vault_kg.extract.protocol import ExtractorError

_FILTERS: Final = threading.Lock()


def parse(content: bytes) -> ast.Module:
    """Parse a file; a byte order mark and a coding cookie are honoured.

    Raises:
        ExtractorError: it is not Python, or nested too deeply for its parser.
    """
    try:
        with _FILTERS, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # SyntaxWarning is for whoever runs the file
            return ast.parse(content)
    except SyntaxError as error:
        where = f"line {error.lineno}: " if error.lineno else ""
        raise ExtractorError(f"{where}{error.msg}") from error
    except (RecursionError, MemoryError) as error:
        raise ExtractorError("nested too deeply to be parsed") from error
    except ValueError as error:  # null bytes
        raise ExtractorError(str(error)) from error


def encoding_of(content: bytes) -> str:
    """Return the encoding that a file declares which the parser took, UTF-8 if none."""
    if content.isascii():
        return "ascii"
    try:
        return tokenize.detect_encoding(io.BytesIO(content).readline)[0]
    except SyntaxError:  # the parser minds no comment in the last line that is not UTF-8
        return "utf-8"


class Lines:
    """The lines of a file, decoded when they are asked for."""

    def __init__(self, content: bytes) -> None:
        self._lines = content.splitlines()
        self._encoding = encoding_of(content)

    def __len__(self) -> int:
        return len(self._lines)

    def header(self, first: int, before: int, limit: int = 300) -> str:
        """Return lines `[first, before)`, counted from 1, as one line of at most `limit` characters."""
        kept = self._lines[first - 1 : max(first, min(before - 1, first + 20))]
        text = b" ".join(kept).decode(self._encoding, "replace")
        return " ".join(text.split())[:limit].rstrip(": ")
