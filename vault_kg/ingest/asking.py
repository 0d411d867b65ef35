"""What is asked of a language model, what it answers, and who answers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

Stopped = Callable[[], bool]
"""Whether the caller has taken it back; asked now and then while a model works."""


@dataclass(frozen=True)
class Question:
    """One call of a model: what it is, what it reads, and the form of its answer.

    Attributes:
        system: The standing instruction.
        user: The document with what is asked of it.
        schema: JSON schema of the answer.
    """

    system: str
    user: str
    schema: Mapping[str, Any]

    @property
    def key(self) -> str:
        """SHA-256 of all that the answer depends on, for recordings."""
        text = json.dumps([self.system, self.user, self.schema], ensure_ascii=False, sort_keys=True)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True)
class Answer:
    """What a model said.

    Attributes:
        text: JSON, if all went well.
        complete: Whether it came to an end by itself, and not at the limit of tokens.
        tokens: Tokens of the answer.
    """

    text: str
    complete: bool = True
    tokens: int = 0


class Extractor(Protocol):
    """A language model that reads documents."""

    @property
    def name(self) -> str:
        """What it is called in results."""

    @property
    def context_tokens(self) -> int:
        """Tokens that a question and its answer may have together."""

    def ask(self, question: Question, max_tokens: int, stopped: Stopped) -> Answer:
        """Answer a question.

        Args:
            question: what is asked.
            max_tokens: the most tokens of the answer.
            stopped: whether nobody waits any more.

        Raises:
            Unavailable: no answer can be had; says why and what would help.
            Cancelled: it was stopped.
        """

    def close(self) -> None:
        """Let go of what it holds."""
