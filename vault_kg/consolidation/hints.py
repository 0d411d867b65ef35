"""What becomes of a node candidate: the rules, the first of which that applies wins.

1. The artefact is committed as it is: NOOP.
2. The session itself says that the candidate supersedes a node: SUPERSEDE it.
3. The same page was withdrawn, or has been superseded: NOOP. Nothing comes back by itself.
4. A page has the same reference to its source and the same type: UPDATE, or SUPERSEDE where a
   Decision means something else now; NOOP where nothing differs.
5. A page has the same title and body: NOOP, or UPDATE where only attributes differ.
6. A page is as similar as `update_similarity`: UPDATE.
7. A page is as similar as `supersede_similarity`: SUPERSEDE.
8. ADD.

A reference to a part of an artefact tells a page; one to the whole, or one that several pages or
candidates share, tells it only together with the title. No page is changed for two candidates.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from vault_kg.consolidation.candidates import MEANING, Node, same_text
from vault_kg.consolidation.settings import Rules
from vault_kg.records import names

Hint = Literal["ADD", "UPDATE", "SUPERSEDE", "NOOP"]
DECISION = "Decision"


class Named(Protocol):
    """A page as lists know it: what similarity alone needs."""

    @property
    def id(self) -> str:
        """Its id."""

    @property
    def title(self) -> str:
        """What it is called."""

    @property
    def revision(self) -> int:
        """What stands of it."""

    @property
    def hash(self) -> str:
        """The hash of its file."""


@dataclass(frozen=True)
class Known:
    """A page that a candidate was compared with, as it stood then."""

    id: str
    title: str
    body: str
    fields: Mapping[str, Any]
    revision: int
    hash: str
    lifecycle: str = "active"
    note: str = ""
    """Of a page that is not active: when and why, or by what it was replaced."""


@dataclass(frozen=True)
class Facts:
    """What stands that a candidate may be the same as."""

    unchanged: bool = False
    supersedes: Known | None = None
    """The node of which the session says that this candidate takes its place."""
    referenced: Sequence[Known] = ()
    """Active pages of the type with the same reference to their source, the oldest first."""
    shared: bool = False
    """Another candidate of the type has the same reference."""
    titled: Sequence[Known] = ()
    """Active pages of the type with the same title."""
    gone: Sequence[Known] = ()
    """Withdrawn and superseded pages of the type with the same title."""
    near: Sequence[tuple[Named, float]] = ()
    """Active pages of the type, the most similar first."""


@dataclass(frozen=True)
class Proposal:
    """A hint, the page that it is about, and why. `rule` is the number of the rule."""

    hint: Hint
    target: str | None
    rationale: str
    rule: int
    score: float | None = None


def propose(facts: Mapping[str, Facts], nodes: Sequence[Node], rules: Rules) -> dict[str, Proposal]:
    """Return a proposal for every candidate, by its id.

    Where two candidates want the same page, the one by the earlier rule has it, then the more
    similar one, then the earlier one; the other has what applies to it next.
    """
    waiting = [_options(node, facts[node.id], rules) for node in nodes]
    best = [(next(options), n) for n, options in enumerate(waiting)]
    queue = [(*_rank(proposal), n, proposal) for proposal, n in best]
    heapq.heapify(queue)
    found: dict[str, Proposal] = {}
    taken: set[str] = set()
    while queue:
        *_, n, proposal = heapq.heappop(queue)
        changes = proposal.hint in ("UPDATE", "SUPERSEDE")
        if changes and proposal.target in taken:
            following = next(waiting[n])
            heapq.heappush(queue, (*_rank(following), n, following))
            continue
        if changes and proposal.target:
            taken.add(proposal.target)
        found[nodes[n].id] = proposal
    return {node.id: found[node.id] for node in nodes}


def _rank(proposal: Proposal) -> tuple[int, float]:
    return proposal.rule, -(proposal.score or 0.0)


def differing(node: Node, page: Known) -> list[str]:
    """Return what a candidate says otherwise than a page; what it does not say does not count."""
    found = []
    if names.lookup_key(node.title) != names.lookup_key(page.title):
        found.append("title")
    if node.body.strip() and not same_text(node.body, page.body):
        found.append("body")
    for name, value in node.fields().items():
        stands = page.fields.get(name)
        if isinstance(value, str) and isinstance(stands, str):
            same = same_text(value, stands)
        else:
            same = value == stands
        if not same:
            found.append(name)
    return found


def _options(node: Node, facts: Facts, rules: Rules) -> Iterator[Proposal]:
    """Yield what applies to a candidate, the first rule first; the last is always ADD."""
    if facts.unchanged:
        same = next((page for page in facts.titled), None)
        yield Proposal(
            "NOOP", same.id if same else None, "the artefact is committed as it is", 1, 1.0
        )
    if facts.supersedes is not None:
        said = f"an edge of this session says that it supersedes {facts.supersedes.id}"
        yield Proposal("SUPERSEDE", facts.supersedes.id, said, 2, 1.0)
    if not facts.titled:
        yield from _gone(node, facts.gone)
    for page in _identified(node, facts):
        yield _by_reference(node, page)
    for page in facts.titled:
        if node.says(page.body, page.title):
            yield _equal(node, page)
    yield from _by_similarity(facts.near, rules)
    yield Proposal("ADD", None, _nothing_near(facts.near, rules), 8, _best(facts.near))


def _gone(node: Node, gone: Sequence[Known]) -> Iterator[Proposal]:
    for page in gone:
        if page.lifecycle == "withdrawn":
            said = f"{page.id} was withdrawn ({page.note}) and stays so"
            yield Proposal("NOOP", None, f"{said}; ADD records it anew", 3, 1.0)
        elif node.says(page.body, page.title):
            said = f"{page.id} said the same and was superseded by {page.note}"
            yield Proposal("NOOP", None, f"{said}; ADD records it anew", 3, 1.0)


def _identified(node: Node, facts: Facts) -> Iterator[Known]:
    """Yield the page that a candidate's reference tells, if it tells one."""
    titled = [p for p in facts.referenced if names.lookup_key(p.title) == node.key[1]]
    if titled:
        yield titled[0]
    elif node.has_section and len(facts.referenced) == 1 and not facts.shared:
        yield facts.referenced[0]


def _by_reference(node: Node, page: Known) -> Proposal:
    other = differing(node, page)
    same = f"same source reference {node.source_ref!r} and type as {page.id}"
    if not other:
        return Proposal("NOOP", page.id, f"{same}; nothing differs", 4, 1.0)
    meant = [name for name in other if name in ("title", "body", *MEANING)]
    if node.type == DECISION and meant:
        said = f"{same}; the decision means something else now ({', '.join(meant)})"
        return Proposal("SUPERSEDE", page.id, said, 4, 1.0)
    return Proposal("UPDATE", page.id, f"{same}; differs in {', '.join(other)}", 4, 1.0)


def _equal(node: Node, page: Known) -> Proposal:
    other = differing(node, page)
    if not other:
        return Proposal("NOOP", page.id, f"same title and body as {page.id}", 5, 1.0)
    said = f"same title and body as {page.id}; differs in {', '.join(other)}"
    return Proposal("UPDATE", page.id, said, 5, 1.0)


def _by_similarity(near: Sequence[tuple[Named, float]], rules: Rules) -> Iterator[Proposal]:
    for page, score in near:
        said = f"similarity {score:.3f} to {page.id}, “{page.title}”"
        if score >= rules.update_similarity:
            said += f"; {rules.update_similarity:g} and more is an update"
            yield Proposal("UPDATE", page.id, said, 6, score)
        elif score >= rules.supersede_similarity:
            said += f"; {rules.supersede_similarity:g} and more is a successor"
            yield Proposal("SUPERSEDE", page.id, said, 7, score)


def _nothing_near(near: Sequence[tuple[Named, float]], rules: Rules) -> str:
    nearest = f"; the nearest is {near[0][0].id} with {near[0][1]:.3f}" if near else ""
    return f"no free node is as similar as {rules.supersede_similarity:g}{nearest}"


def _best(near: Sequence[tuple[Named, float]]) -> float | None:
    return near[0][1] if near else None
