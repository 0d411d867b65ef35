"""Answers that a model reads as plain text, with the same as structured content beside."""

from __future__ import annotations

from vault_kg.operations.base import Model


class Plain(Model):
    """A result whose `text` is the answer as text; the other keys say the same for programs."""

    text: str = ""
