"""A model behind an OpenAI-compatible endpoint, asked through the `openai` package."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, Field, ValidationError

from vault_kg.errors import Unavailable
from vault_kg.ingest.asking import Answer, Question, Stopped
from vault_kg.ingest.local import unavailable
from vault_kg.operations import steps

if TYPE_CHECKING:
    import openai

CONTEXT_TOKENS = 32_768
"""What is reckoned with; an endpoint does not say."""

WAITS = (1.0, 2.0, 4.0)
"""Seconds before the second, third and fourth try of a call that may work later."""

_LOOK_SECONDS = 0.1
_NO_KEY = "none"
_MISSING = (
    "the package openai is not installed; pip install 'vault-kg[endpoint]', or configure a local "
    "model with VAULT_KG_EXTRACTION_MODEL alone"
)

Form = Callable[[Mapping[str, Any]], dict[str, Any]]


def _schema_form(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": dict(schema)}}


def _object_form(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "json_object", "schema": dict(schema)}


def _plain_form(_: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "json_object"}


FORMS: tuple[Form, ...] = (_schema_form, _object_form, _plain_form)
"""How an endpoint is told the form of the answer: the first that it takes is kept."""


class _Message(BaseModel):
    content: str | None = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None


class _Usage(BaseModel):
    completion_tokens: int = 0


class _Completion(BaseModel):
    """What is read of an answer; the package takes an answer of any shape."""

    choices: Annotated[list[_Choice], Field(min_length=1)]
    usage: _Usage | None = None


class Endpoint:
    """A model at an endpoint.

    Args:
        base_url: Where the API is, `/v1` included.
        model: The model's name there.
        key: The API key, where one is needed.
        call_seconds: The deadline of one answer.
        waits: Seconds before each further try.

    Raises:
        Unavailable: The package `openai` is not installed.
    """

    def __init__(
        self, base_url: str, model: str, key: str | None, *,
        call_seconds: float, waits: tuple[float, ...] = WAITS,
    ) -> None:  # fmt: skip
        try:
            import openai
        except ImportError:
            raise unavailable(_MISSING) from None
        self._openai = openai
        self._client = openai.OpenAI(
            base_url=base_url, api_key=key or _NO_KEY, timeout=call_seconds, max_retries=0
        )
        self._where, self._model, self._waits = base_url, model, waits
        self._forms = FORMS

    @property
    def name(self) -> str:
        """The model's name."""
        return self._model

    @property
    def context_tokens(self) -> int:
        """The tokens that question and answer may have."""
        return CONTEXT_TOKENS

    def ask(self, question: Question, max_tokens: int, stopped: Stopped) -> Answer:
        """Answer a question; what may work later is tried again.

        Raises:
            Unavailable: No answer can be had.
            Cancelled: It was stopped between two tries.
        """
        for wait in (*self._waits, None):
            try:
                return self._answered(question, max_tokens)
            except (
                self._openai.APIConnectionError, self._openai.RateLimitError,
                self._openai.InternalServerError,
            ) as error:  # fmt: skip
                if wait is None:
                    raise self._gone(error) from None
            except self._openai.OpenAIError as error:
                raise self._gone(error) from None
            _wait(wait, stopped)
        raise AssertionError("every try answers or raises")

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _answered(self, question: Question, max_tokens: int) -> Answer:
        while True:
            forms = self._forms
            try:
                done = self._completion(question, max_tokens, forms[0](question.schema))
            except self._openai.APIStatusError as error:
                if len(forms) == 1 or not _is_about_the_form(error):
                    raise
                self._forms = forms[1:]
                continue
            choice = done.choices[0]
            tokens = done.usage.completion_tokens if done.usage else 0
            return Answer(choice.message.content or "", choice.finish_reason != "length", tokens)

    def _completion(self, question: Question, max_tokens: int, form: dict[str, Any]) -> _Completion:
        messages: Any = [
            {"role": "system", "content": question.system},
            {"role": "user", "content": question.user + _spelled_out(question, form)},
        ]
        wanted: Any = form
        answered = self._client.chat.completions.with_raw_response.create(
            model=self._model, messages=messages, max_tokens=max_tokens, temperature=0.0,
            response_format=wanted,
        )  # fmt: skip
        try:
            return _Completion.model_validate_json(answered.content)
        except ValidationError:
            raise unavailable(
                f"what answers at {self._where} is no OpenAI-compatible API: its URL often ends in /v1"
            ) from None

    def _gone(self, error: Exception) -> Unavailable:
        said = " ".join(str(error).split())[:300]
        return unavailable(f"the model {self._model} at {self._where} gave no answer: {said}")


def _is_about_the_form(error: openai.APIStatusError) -> bool:
    """Say whether an endpoint refuses the form; llama-cpp-python's server does so with a 500."""
    return error.status_code in (400, 422) or "response_format" in str(error)


def _spelled_out(question: Question, form: Mapping[str, Any]) -> str:
    """Return the form in words, for an endpoint that is not told it otherwise."""
    if "schema" in form or "json_schema" in form:
        return ""
    lists = question.schema["properties"].items()
    shapes = (f'"{name}": [{{{_keys(rule)}}}]' for name, rule in lists)
    return f"\n\nAnswer with one JSON object: {{{', '.join(shapes)}}}"


def _keys(rule: Mapping[str, Any]) -> str:
    return ", ".join(f'"{key}": …' for key in rule["items"]["properties"])


def _wait(seconds: float | None, stopped: Stopped) -> None:
    until = time.monotonic() + (seconds or 0.0)
    while time.monotonic() < until:
        if stopped():
            raise steps.cancelled()
        time.sleep(_LOOK_SECONDS)
