"""Reading a document with a model: questions, retries, and what the text bears out of the answers.

Nothing of the vault is read or written here. What is left is grounded: every name stands in the
document, every statement has a quote that does.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple

from vault_kg.errors import Unavailable
from vault_kg.ingest import editions, items, prompt
from vault_kg.ingest.asking import Extractor, Question
from vault_kg.ingest.grounding import Place, Text
from vault_kg.ingest.items import Aside, Entity, Read, Statement
from vault_kg.ingest.pieces import MAX_CHARS, Piece, divide
from vault_kg.ingest.prompt import Vocabulary
from vault_kg.operations import steps
from vault_kg.operations.caller import Caller
from vault_kg.records.names import lookup_key

CHARS_PER_TOKEN = 3
"""Fewer than most tokenizers make, so that a question is not longer than it was reckoned."""

LEAST_TOKENS, MOST_TOKENS = 512, 4_096
"""Of an answer, at the first try; the second one has twice as many."""


class Named(NamedTuple):
    """A thing that the document names, and where; whether a line to be read does."""

    entity: Entity
    place: Place
    is_new: bool


class Said(NamedTuple):
    """What the document says, and where."""

    statement: Statement
    place: Place


@dataclass
class Reading:
    """What a document says as far as its text bears it out, and what became of the rest."""

    named: list[Named] = field(default_factory=list)
    said: list[Said] = field(default_factory=list)
    malformed: list[Aside] = field(default_factory=list)
    salvaged: list[Aside] = field(default_factory=list)
    ungrounded: list[tuple[Entity | Statement, str]] = field(default_factory=list)
    incomplete: list[tuple[Piece, str]] = field(default_factory=list)
    calls: int = 0
    tokens: int = 0


def read(
    text: str, about: str, lines: Collection[int], vocabulary: Vocabulary, extractor: Extractor,
    caller: Caller,
) -> Reading:  # fmt: skip
    """Read a document.

    Args:
        text: the document.
        about: its name and time, as the model is told them.
        lines: the lines that are to be read; the others are context.
        vocabulary: the types that the model may use.
        extractor: the model.
        caller: told how far it is; asked whether it was cancelled.

    Raises:
        Unavailable: the model cannot be had, or not one answer could be read.
        Cancelled: the caller took it back.
    """
    reader = _Reader(Text(text), about, lines, vocabulary, extractor, caller)
    return reader.run(divide(text, _most_chars(about, vocabulary, extractor)))


def _most_chars(about: str, vocabulary: Vocabulary, extractor: Extractor) -> int:
    """Return how long a piece may be, so that question and answer fit the model's context."""
    bare = prompt.ask_statements("", about, vocabulary, ["", ""])
    room = extractor.context_tokens * CHARS_PER_TOKEN - len(bare.system) - len(bare.user)
    most = min(MAX_CHARS, room - 2 * LEAST_TOKENS * CHARS_PER_TOKEN)
    if most < LEAST_TOKENS:
        raise Unavailable(
            f"the model {extractor.name} has room for {extractor.context_tokens} tokens, and the "
            "vocabulary alone fills them; use a model with a larger context, or set extract: "
            "false on types that texts need not be read for",
            missing="extraction_model",
            rpc_code=-32000,
        )
    return most


class _Reader:
    def __init__(
        self, text: Text, about: str, lines: Collection[int], vocabulary: Vocabulary,
        extractor: Extractor, caller: Caller,
    ) -> None:  # fmt: skip
        self.text, self.about, self.lines = text, about, lines
        self.vocabulary, self.extractor, self.caller = vocabulary, extractor, caller
        self.done = Reading()
        self.names: dict[str, str] = {}

    def run(self, pieces: list[Piece]) -> Reading:
        wanted = [p for p in pieces if editions.touches(self.lines, p.first, p.last)]
        for number, piece in enumerate(wanted):
            steps.step(self.caller, number, len(wanted), "reading")
            self._read_piece(piece)
        steps.step(self.caller, len(wanted), len(wanted), "reading")
        if self.done.incomplete and not self.done.named:
            raise Unavailable(
                f"the model {self.extractor.name} gave no answer that could be used: "
                f"{self.done.incomplete[0][1]}. Nothing was retained; use another model",
                missing="extraction_model",
                rpc_code=-32000,
            )
        return self.done

    def _read_piece(self, piece: Piece) -> None:
        answered = self._ask(prompt.ask_names(piece.text, self.about, self.vocabulary), piece)
        for entity in answered.entities:
            self._take_entity(entity, piece)
        names = [
            name for name in self.names.values()
            if self.text.mention(name, piece.first, piece.last)
        ]  # fmt: skip
        if not names:
            return
        asked = prompt.ask_statements(piece.text, self.about, self.vocabulary, names)
        for statement in self._ask(asked, piece).statements:
            self._take_statement(statement, piece)

    def _take_entity(self, entity: Entity, piece: Piece) -> None:
        place = self._new_mention(entity.name, piece)
        if place is None:
            self.done.ungrounded.append((entity, "the text does not have its name"))
            return
        if lookup_key(entity.name) not in self.names:
            self.names[lookup_key(entity.name)] = entity.name
            entity = self._with_own_summary(entity)
            is_new = editions.touches(self.lines, place.first, place.last)
            self.done.named.append(Named(entity, place, is_new))

    def _with_own_summary(self, entity: Entity) -> Entity:
        """Return an entity without a summary that the document does not bear out."""
        why = self.text.unsupported(entity.summary)
        if why is None:
            return entity
        self.done.salvaged.append(("entity", asdict(entity), f"without its summary: {why}"))
        return replace(entity, summary="")

    def _new_mention(self, name: str, piece: Piece) -> Place | None:
        """Return where a piece names something, in a new line if there is one."""
        places = list(self.text.mentions(name, piece.first, piece.last))
        new = (p for p in places if editions.touches(self.lines, p.first, p.last))
        return next(new, places[0] if places else None)

    def _take_statement(self, statement: Statement, piece: Piece) -> None:
        place = self.text.quote(statement.quote, piece.first, piece.last)
        why = self._ungrounded(statement, place)
        if why or place is None:
            self.done.ungrounded.append((statement, why or "not in the text"))
        elif editions.touches(self.lines, place.first, place.last):
            self.done.said.append(Said(statement, place))

    def _ungrounded(self, statement: Statement, place: Place | None) -> str | None:
        if place is None:
            return "the text does not have its quote"
        for name in (statement.source, statement.target):
            if name is not None and self.text.mention(name) is None:
                return f"the text does not name {name!r}"
        return self.text.unsupported(statement.text)

    def _ask(self, question: Question, piece: Piece) -> Read:
        """Ask, once more where the answer was cut short or is no JSON; says what is left of it."""
        budget = self._budget(question, piece)
        problem = ""
        found: dict[str, Any] = {}
        for most in (budget, self._room(question, 2 * budget)):
            answer = self.extractor.ask(question, most, self.caller.cancelled)
            self.done.calls += 1
            self.done.tokens += answer.tokens
            try:
                found = items.load(answer.text)
            except items.NotJson as error:
                problem = str(error)
                continue
            if answer.complete:
                break
            problem = f"the answer was longer than {most:,} tokens; what was whole is kept"
        else:
            self.done.incomplete.append((piece, problem))
        return self._kept(found)

    def _kept(self, found: dict[str, Any]) -> Read:
        read = items.read(found)
        self.done.malformed += read.malformed
        self.done.salvaged += read.salvaged
        return read

    def _budget(self, question: Question, piece: Piece) -> int:
        wanted = min(max(len(piece.text) // 2, LEAST_TOKENS), MOST_TOKENS)
        return self._room(question, wanted)

    def _room(self, question: Question, wanted: int) -> int:
        asked = (len(question.system) + len(question.user)) // CHARS_PER_TOKEN
        return max(min(wanted, self.extractor.context_tokens - asked), LEAST_TOKENS // 2)
