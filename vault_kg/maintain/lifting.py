"""Lift clusters: pages that tell of episodes and share a lesson that no page states yet.

A page tells of an episode if its id is dated, or says session, review, status and the like. Two are
joined by a file that both touch, by an edge, or by three neighbours or terms that both have; what is
common to very many pages joins none. Rules and numbers are of the knowledge-graph plugin (core/lift.py).
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

from vault_kg.index.nodes import Edge, Node
from vault_kg.index.stopwords import STOPWORDS
from vault_kg.records import slugs

LARGEST = 5
SHARED = 3
COMMON_LEAST, COMMON_SHARE = 8, 0.10
"""A file, neighbour or term of more pages than both of these says nothing of two of them."""

LIFTED = "instance-of"
"""The edge from an episode to the page that states its lesson."""

_EPISODES = frozenset(
    "session review audit retro postmortem debrief handover standup recap snapshot status "
    "incident".split()
)
_NUMBERED = re.compile(r"(?:week|sprint|day|iter|round|run)\d+")


def is_episode(slug: str) -> bool:
    """Say whether an id is that of a page which tells of one episode."""
    words = slugs.words(slug)
    pairs = (a + b for a, b in zip(words, words[1:], strict=False))
    return (
        slugs.is_dated(slug)
        or not _EPISODES.isdisjoint(words)
        or any(_NUMBERED.fullmatch(word) for word in (*words, *pairs))
    )


def clusters(
    active: Sequence[Node], edges: Iterable[Edge], total: int | None = None
) -> list[list[str]]:
    """Return groups of two to five record ids, the best joined first in each.

    Args:
        active: the pages of a level that are in view, or those of them that tell of episodes.
        edges: the edges at them.
        total: how many are in view, where `active` is not all of them.
    """
    edges = list(edges)
    lifted = {edge.source for edge in edges if edge.rel.replace("_", "-") == LIFTED}
    episodes = [n for n in active if n.id not in lifted and is_episode(n.slug)]
    joined = _joined(episodes, edges, len(active) if total is None else total)
    found, left = [], {node.id for node in episodes}
    for one in sorted(joined, key=lambda one: (-len(joined[one]), one)):
        if one in left:
            group = _around(one, joined, left)
            left -= set(group)
            if len(group) > 1:
                found.append(group)
    return found


def _joined(episodes: Sequence[Node], edges: Iterable[Edge], total: int) -> dict[str, Counter[str]]:
    """Return which pages are joined to which, and how strongly."""
    ids = {node.id for node in episodes}
    beside: dict[str, set[str]] = defaultdict(set)
    direct: set[frozenset[str]] = set()
    for edge in edges:
        beside[edge.source].add(edge.target)
        beside[edge.target].add(edge.source)
        if edge.source in ids and edge.target in ids:
            direct.add(frozenset((edge.source, edge.target)))
    files = {node.id: {touch.split(":")[0] for touch in node.touches} for node in episodes}
    said = {
        node.id: beside[node.id] | slugs.terms(f"{node.slug} {node.gist}", STOPWORDS)
        for node in episodes
    }
    most = max(COMMON_LEAST, COMMON_SHARE * total)
    files, said = _telling(files, most), _telling(said, most)
    joined: dict[str, Counter[str]] = defaultdict(Counter)
    for a, b in combinations(sorted(ids), 2):
        shared = len(said[a] & said[b])
        strength = shared + SHARED * (len(files[a] & files[b]) + (frozenset((a, b)) in direct))
        if strength >= SHARED:
            joined[a][b] = joined[b][a] = strength
    return joined


def _telling(keys: Mapping[str, set[str]], most: float) -> dict[str, set[str]]:
    """Leave out what more pages have than tells anything."""
    held = Counter(key for own in keys.values() for key in own)
    return {one: {key for key in own if held[key] <= most} for one, own in keys.items()}


def _around(one: str, joined: Mapping[str, Counter[str]], left: set[str]) -> list[str]:
    """Grow a group outward from a page, always by the page that is joined to it most strongly."""
    group = [one]
    while len(group) < LARGEST:
        reach: Counter[str] = Counter()
        for member in group:
            reach.update({b: n for b, n in joined[member].items() if b in left and b not in group})
        if not reach:
            break
        group.append(min(reach, key=lambda other: (-reach[other], other)))
    return group
