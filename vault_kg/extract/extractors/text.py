"""From bytes to text, for files that declare no encoding."""

from __future__ import annotations

from vault_kg.extract.protocol import ExtractorError


def decoded(content: bytes) -> str:
    """Return the text of a file: UTF-8, UTF-16 with its mark, or else Latin-1.

    Raises:
        ExtractorError: it holds null bytes, so that it is no text.
    """
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:
            return content.decode("utf-16")
        except UnicodeDecodeError as error:
            raise ExtractorError(f"not UTF-16 as its mark says: {error}") from error
    if b"\0" in content:
        line = content.count(b"\n", 0, content.index(b"\0")) + 1
        raise ExtractorError(f"line {line}: a null byte")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")
