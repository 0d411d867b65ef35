"""The order in which classes are searched for a member: C3, as in Python."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TypeVar

_Class = TypeVar("_Class", bound=Hashable)


def merged(first: _Class, lineages: Sequence[Sequence[_Class]]) -> list[_Class]:
    """Return the lineage of a class from those of its bases, in their order.

    Where no order fits (Python would refuse the class), the bases are taken one after the other.

    Args:
        first: the class itself.
        lineages: of each base, itself first.
    """
    bases = [lineage[0] for lineage in lineages if lineage]
    waiting = [list(lineage) for lineage in (*lineages, bases) if lineage]
    order = [first]
    while waiting:
        behind = {one for lineage in waiting for one in lineage[1:]}
        heads = [lineage[0] for lineage in waiting]
        chosen = next((head for head in heads if head not in behind), heads[0])
        if chosen not in order:
            order.append(chosen)
        waiting = [[one for one in lineage if one != chosen] for lineage in waiting]
        waiting = [lineage for lineage in waiting if lineage]
    return order
