"""The kinds of chores: what each is worth, how many pages one takes, and what it writes.

Weights are those of the debt formula (`debt`); the rest is of the knowledge-graph plugin
(core/chores.py). Entity consolidation, merges and recurring principles are no chores: they want the
context of a full pass.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

Kind = Literal["gist", "id", "edge", "anchor", "lift", "notes"]


@dataclass(frozen=True)
class Rules:
    """What holds for the chores of one kind."""

    weight: float
    targets: int
    """So many pages at most."""
    rewrites: bool = False
    """It writes text of a page back in place, which must not be done again and again."""
    renames: bool = False
    """It gives a page another id, which a session that holds the old one would miss."""


KINDS: Final[Mapping[Kind, Rules]] = {
    "gist": Rules(1.0, 2, rewrites=True),
    "id": Rules(0.5, 2, renames=True),
    "edge": Rules(0.5, 1),
    "anchor": Rules(0.5, 1, rewrites=True),
    "lift": Rules(0.25, 5),
    "notes": Rules(0.15, 1, rewrites=True),
}


@dataclass(frozen=True)
class Target:
    """A page that a chore may be about: its record id, its name, and what of it is to be done."""

    record: str
    name: str
    what: str


@dataclass(frozen=True)
class Chore:
    """A piece of work on a level: its kind and its pages."""

    partition: str
    kind: Kind
    targets: tuple[Target, ...]


@dataclass(frozen=True)
class PassedOver:
    """A page that no chore was made of, and why."""

    target: Target
    kind: Kind
    reason: str
