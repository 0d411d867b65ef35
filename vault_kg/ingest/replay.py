"""Answers of a model, recorded and given again: the same question has the same answer.

A recording is a file of JSON lines `{key, model, answer, complete, context_tokens}`. A question that
is not in it is an error, never an empty answer.
"""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

from vault_kg.errors import Unavailable
from vault_kg.ingest.asking import Answer, Extractor, Question, Stopped
from vault_kg.ingest.local import unavailable

CONTEXT_TOKENS = 8_192


class Replayed:
    """A model whose answers are read from a recording.

    Args:
        path: The recording.

    Raises:
        Unavailable: It is not there, or cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._answers = _read(path)
        sizes = {
            int(entry.get("context_tokens", CONTEXT_TOKENS)) for entry in self._answers.values()
        }
        self.context_tokens = min(sizes, default=CONTEXT_TOKENS)

    @property
    def name(self) -> str:
        """The name of the recording."""
        return f"replay:{self._path.name}"

    def ask(self, question: Question, max_tokens: int, stopped: Stopped) -> Answer:  # noqa: ARG002
        """Answer as recorded.

        Raises:
            Unavailable: The question is not in the recording.
        """
        found = self._answers.get(question.key)
        if found is None:
            raise unavailable(
                f"{self._path} has no answer to this question (key {question.key[:16]}…, "
                f"“{question.user[:60]}…”): prompt or text changed; record it anew"
            )
        return Answer(str(found["answer"]), bool(found.get("complete", True)))

    def close(self) -> None:
        """Nothing is held."""


class Recorded:
    """A model whose answers are added to a recording as they come.

    Args:
        model: The model that answers.
        path: The recording.
    """

    def __init__(self, model: Extractor, path: Path) -> None:
        self._model, self._path = model, path
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """The name of the model."""
        return self._model.name

    @property
    def context_tokens(self) -> int:
        """Those of the model; kept, so that a replay divides texts in the same way."""
        return self._model.context_tokens

    def ask(self, question: Question, max_tokens: int, stopped: Stopped) -> Answer:
        """Answer as the model does, and keep it."""
        answer = self._model.ask(question, max_tokens, stopped)
        line = json.dumps(
            {
                "key": question.key, "model": self._model.name, "answer": answer.text,
                "complete": answer.complete, "context_tokens": self._model.context_tokens,
            },
            ensure_ascii=False,
        )  # fmt: skip
        with self._lock, self._path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")
        return answer

    def close(self) -> None:
        """Close the model."""
        self._model.close()


def _read(path: Path) -> dict[str, dict[str, Any]]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        return {entry["key"]: entry for entry in map(json.loads, filter(str.strip, lines))}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: Exception) -> Unavailable:
    return unavailable(f"the recording {path} cannot be read: {type(error).__name__}: {error}")
