"""What the parts of the UI tell each other."""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message


@dataclass
class Moved(Message):
    """Something was written; what is shown may be out of date."""

    position: int

    def __post_init__(self) -> None:
        super().__init__()


@dataclass
class Waiting(Message):
    """So much waits for a person."""

    number: int

    def __post_init__(self) -> None:
        super().__init__()
