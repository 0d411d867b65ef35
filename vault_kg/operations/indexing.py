"""That the vault's files have not all been read yet, told with every answer that may miss something."""

from __future__ import annotations

from typing import Any

from vault_kg.errors import NotFound
from vault_kg.operations.base import Model
from vault_kg.operations.plain import Plain

KEY = "indexing"
"""The key that any read's answer has meanwhile, and that a refusal as not found has in its data."""


class Indexing(Model):
    """How far the reading of the files is."""

    done: int
    total: int | None = None
    """None while the files are still being found."""

    def __str__(self) -> str:
        """Say it in words."""
        far = "" if self.total is None else f" ({self.done:,} of {self.total:,})"
        return f"the vault's files have not all been read yet{far}"


def tell(answer: dict[str, Any], indexing: Indexing, result: type[Model]) -> None:
    """Say in an answer that it may miss something."""
    answer[KEY] = indexing.model_dump()
    if issubclass(result, Plain):
        answer["text"] += f"\nNOTE: {indexing}; what is missing here may still come, ask again."


def tell_refusal(error: NotFound, indexing: Indexing) -> None:
    """Say in a refusal that what was not found may be there all the same."""
    error.message += f" ({indexing}; it may still come, ask again)"
    error.data[KEY] = indexing.model_dump()
