"""Texts that recur in every edge (kinds, extractors, signals), as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from vault_kg.extract.backends.rows import read_signals, signals_text
from vault_kg.extract.backends.values import EdgeId, EdgeRow
from vault_kg.extract.model import Signal
from vault_kg.state.database import Database


class Terms:
    """The table `term`, kept in memory as far as it was asked for."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._texts: dict[int, str] = {}
        self._numbers: dict[str, int] = {}
        self._signals: dict[tuple[Signal, ...], int] = {}

    def forget(self) -> None:
        """Forget what is in memory: a transaction was taken back that may have given numbers."""
        self._texts, self._numbers, self._signals = {}, {}, {}

    def number(self, text: str) -> int:
        """Return the number of a text; a new one is given in the transaction that is open."""
        found = self._numbers.get(text) or self.find(text)
        if found is None:
            self._db.execute("INSERT INTO term (text) VALUES (?)", (text,))
            found = self._numbers[text] = int(self._db.connection.last_insert_rowid())
        return found

    def signals(self, signals: tuple[Signal, ...]) -> int:
        """Return the number of signals as one text."""
        found = self._signals.get(signals)
        if found is None:
            found = self._signals[signals] = self.number(signals_text(signals))
        return found

    def find(self, text: str) -> int | None:
        """Return the number of a text, if it has one."""
        found = self._numbers.get(text)
        if found is None:
            found = self._db.value("SELECT id FROM term WHERE text = ?", (text,))
            if found is not None:
                self._numbers[text] = found
        return found

    def text(self, number: int) -> str:
        """Return the text of a number."""
        known = self._texts.get(number)
        if known is None:
            known = str(self._db.value("SELECT text FROM term WHERE id = ?", (number,)))
            self._texts[number] = known
        return known

    def edge(self, values: Sequence[Any]) -> EdgeRow:
        """Read a row of the table `edge`."""
        source, target, kind, extractor, confidence, line, signals, linked = values
        return EdgeRow(
            EdgeId(source, target, self.text(kind), self.text(extractor)),  # type: ignore[arg-type]
            confidence, line, read_signals(self.text(signals)), bool(linked),
        )  # fmt: skip
