"""Our reading of front matter, offered to programs that use the python-frontmatter library."""

from __future__ import annotations

from frontmatter.default_handlers import YAMLHandler

from vault_kg.records.frontmatter import FrontMatterError, Value, find_block, new_document
from vault_kg.records.yaml_nodes import YamlError
from vault_kg.records.yaml_reader import load


class RecordYAMLHandler(YAMLHandler):
    """Reads front matter with the bounds and types of records: `frontmatter.load(path, handler=…)`.

    The library strips the text and knows no line breaks: read with it, and write with
    `vault_kg.records.frontmatter.edit`.
    """

    def detect(self, text: str) -> bool:
        """Tell whether a text begins with front matter."""
        return find_block(text) is not None

    def split(self, text: str) -> tuple[str, str]:
        """Return the front matter and the body of a text.

        Raises:
            ValueError: It has no front matter, which the library takes for an answer.
            FrontMatterError: The block is never closed.
        """
        block = find_block(text)
        if block is None:
            raise ValueError("no front matter")
        return text[block.begin : block.end], text[block.body :]

    def load(self, fm: str, **_options: object) -> dict[str, Value]:
        """Return the values of a block.

        Raises:
            FrontMatterError: It cannot be read; `line` counts from the opening fence.
        """
        try:
            value = load(f"---\n{fm}")
        except YamlError as error:
            raise FrontMatterError(error.line, error.reason) from None
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise FrontMatterError(2, "the front matter is not made of `key: value` lines")
        return value

    def export(self, metadata: dict[str, object], **_options: object) -> str:
        """Return values as the lines of a block, without fences."""
        written = new_document(metadata, "").decode()  # type: ignore[arg-type]  # checked there
        return written.removeprefix("---\n").removesuffix("---\n").rstrip("\n")
