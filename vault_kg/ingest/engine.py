"""A chat model as llama.cpp runs it; imported in the worker process only."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import llama_cpp
from llama_cpp.llama_chat_format import Jinja2ChatFormatter
from llama_cpp.llama_grammar import LlamaGrammar

_TEMPLATE = "tokenizer.chat_template"
_SLOTS = {"system": "\ue000system\ue001", "user": "\ue000user\ue001"}
"""Private-use marks that stand for the texts while the template is filled."""


class Engine:
    """One loaded chat model; not for use by two threads.

    Args:
        model: The GGUF file.
        context_tokens: The most tokens of question and answer together; the model's own where that
            is less.
        threads: Threads to compute with.
    """

    def __init__(self, model: Path, context_tokens: int, threads: int) -> None:
        self._llama = llama_cpp.Llama(
            str(model), n_ctx=context_tokens, n_threads=threads, n_threads_batch=threads,
            seed=0, verbose=False,
        )  # fmt: skip
        self._metadata: Mapping[str, str] = self._llama.metadata
        trained = self._metadata.get(f"{self._metadata.get('general.architecture')}.context_length")
        self.context_tokens = min(context_tokens, int(trained or context_tokens))

    def answer(
        self, system: str, user: str, schema: Mapping[str, Any], max_tokens: int
    ) -> dict[str, Any]:
        """Answer with JSON of a schema, the same each time.

        Args:
            system: The standing instruction.
            user: The document and the question.
            schema: JSON schema; the answer is of its form, as far as it gets.
            max_tokens: Where the answer is cut off.

        Returns:
            `text`, `complete` and `tokens`.
        """
        grammar = LlamaGrammar.from_json_schema(json.dumps(schema), verbose=False)
        done: Any = self._llama.create_completion(
            prompt=self.tokens({"system": system, "user": user}),
            grammar=grammar,
            temperature=0.0,
            repeat_penalty=1.1,
            max_tokens=max_tokens,
        )
        choice = done["choices"][0]
        return {
            "text": choice["text"],
            "complete": choice["finish_reason"] == "stop",
            "tokens": done["usage"]["completion_tokens"],
        }

    def tokens(self, texts: Mapping[str, str]) -> list[int]:
        """Return the conversation as tokens, in which only the template's marks are marks.

        The texts are put in after the template was filled, and without reading special tokens in
        them, so that a document cannot end its own turn.
        """
        parts = self._template().split("\ue000")
        tokens = self._tokenize(parts[0], special=True)
        for part in parts[1:]:
            role, _, rest = part.partition("\ue001")
            tokens += self._tokenize(texts[role], special=False)
            tokens += self._tokenize(rest, special=True)
        return tokens

    def _template(self) -> str:
        """Return the model's prompt with marks in place of the texts."""
        source = self._metadata.get(_TEMPLATE)
        if source is None:
            return f"{_SLOTS['system']}\n\n{_SLOTS['user']}\n\n"
        begin, end = (
            self._llama.detokenize([token], special=True).decode("utf-8", "replace")
            for token in (self._llama.token_bos(), self._llama.token_eos())
        )
        fill = Jinja2ChatFormatter(template=source, bos_token=begin, eos_token=end)
        messages: Any = [{"role": role, "content": slot} for role, slot in _SLOTS.items()]
        try:
            return str(fill(messages=messages).prompt)
        except ValueError:  # a template that knows no system role says so
            both: Any = {"role": "user", "content": f"{_SLOTS['system']}\n\n{_SLOTS['user']}"}
            return str(fill(messages=[both]).prompt)

    def _tokenize(self, text: str, *, special: bool) -> list[int]:
        data = text.encode("utf-8", "replace")
        return list(self._llama.tokenize(data, add_bos=False, special=special))
