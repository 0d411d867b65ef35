"""Choosing a chore: by weight and number, never the same kind forever, never what was declined."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from vault_kg.maintain.chores.kinds import KINDS, Chore, Kind, PassedOver, Target

IN_A_ROW = 3
"""After so many chores of one kind another kind is taken, where there is one."""

REMEMBERED = 10
"""The pages of so many last chores, and what so many last passes declined, are left alone."""

MAX_REWRITES = 2
"""A page whose gist changed more often within thirty days is not rewritten again."""

_WORD = r"[\w.-]"


@dataclass(frozen=True)
class Circumstances:
    """What is known besides the debt."""

    last_kinds: Sequence[Kind] = ()
    """Of the last chores of the level, newest first."""
    last_targets: Collection[str] = ()
    """Record ids of the pages of the last chores."""
    declined: Sequence[str] = ()
    """What the last passes said that they considered and did not do."""
    held: Collection[str] = ()
    """Record ids of the pages that live sessions have read."""
    rewrites: Mapping[str, int] = field(default_factory=dict)
    """How often the gist of each page changed within thirty days."""


def choose(
    partition: str,
    offered: Mapping[Kind, Sequence[Sequence[Target]]],
    known: Circumstances,
) -> tuple[Chore | None, list[PassedOver]]:
    """Choose a chore.

    Args:
        partition: the level.
        offered: by kind, the groups of pages that are one piece of work each; a group of one may
            be joined by others of its kind, those first that weigh most.
        known: what else is to be heeded.

    Returns:
        The chore, or None where nothing is left; and what was passed over, with the reason.
    """
    passed: list[PassedOver] = []
    left = {kind: _allowed(kind, groups, known, passed) for kind, groups in offered.items()}
    ranked = sorted(
        (kind for kind, groups in left.items() if groups),
        key=lambda kind: (-KINDS[kind].weight * sum(map(len, left[kind])), list(KINDS).index(kind)),
    )
    if not ranked:
        return None, passed
    kind = ranked[0]
    recent = list(known.last_kinds[:IN_A_ROW])
    if len(ranked) > 1 and recent == [kind] * IN_A_ROW:
        kind = ranked[1]
    groups = left[kind]
    chosen = groups[0] if len(groups[0]) > 1 else [group[0] for group in groups if len(group) == 1]
    return Chore(partition, kind, tuple(chosen[: KINDS[kind].targets])), passed


def _allowed(
    kind: Kind,
    groups: Sequence[Sequence[Target]],
    known: Circumstances,
    passed: list[PassedOver],
) -> list[list[Target]]:
    """Return the groups of which enough pages may be worked on; pages in use come last."""
    kept: list[list[Target]] = []
    for group in groups:
        allowed = []
        for target in group:
            reason = _against(kind, target, known)
            if reason is None:
                allowed.append(target)
            else:
                passed.append(PassedOver(target, kind, reason))
        if len(allowed) >= min(2, len(group)):
            kept.append(allowed)
    return sorted(kept, key=lambda group: any(target.record in known.held for target in group))


def _against(kind: Kind, target: Target, known: Circumstances) -> str | None:
    """Return why a page may not be worked on."""
    rules = KINDS[kind]
    if target.record in known.last_targets:
        return "one of the last chores was about it"
    if any(_names(text, target) for text in known.declined):
        return "an earlier pass declined it"
    if rules.renames and target.record in known.held:
        return "a session in use holds it by this id"
    if rules.rewrites and known.rewrites.get(target.record, 0) > MAX_REWRITES:
        return f"its gist was rewritten more than {MAX_REWRITES} times in 30 days"
    return None


def _names(text: str, target: Target) -> bool:
    """Say whether a text names a page: its id as a whole word, in any case."""
    if target.record in text:
        return True
    name = re.escape(target.name)
    return re.search(f"(?<!{_WORD}){name}(?!{_WORD})", text, re.IGNORECASE) is not None
