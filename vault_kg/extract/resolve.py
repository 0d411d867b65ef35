"""From references to edges, over all symbols of the tree.

A reference becomes an edge to a symbol only when exactly one fits. Otherwise its target is a stub,
`code:external:…`, said with little confidence, or nothing at all where nothing can be said.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from vault_kg.extract import uids
from vault_kg.extract.confidence import (
    LINKED,
    OUTSIDE,
    OWN_METHOD,
    SAME_NAME,
    STATED,
    UNRESOLVED,
    confidence,
)
from vault_kg.extract.extractors.nodes import is_test_path
from vault_kg.extract.kinds import COMMON_METHODS, kind_for
from vault_kg.extract.model import DROP_BELOW, Edge, EdgeKind, Node, NodeKind, Reference, Signal
from vault_kg.extract.modules.registry import modules_for
from vault_kg.extract.modules.spelling import absolute
from vault_kg.extract.outcomes import UNKNOWN, Outcome
from vault_kg.extract.protocol import SymbolIndex
from vault_kg.extract.steps import Steps

_NEED_A_SYMBOL: Final = frozenset({"references", "reads", "dispatches", "links_to"})
"""Kinds that say nothing when their target is outside the tree."""
_MAY_DANGLE: Final = frozenset({"calls", "constructs", "imports", "inherits", "implements"})
"""Kinds that are kept, as a stub, when the tree should have their target but does not."""
_TESTING: Final = frozenset({"calls", "constructs", "dispatches"})


class Resolver:
    """Resolves references against one state of the symbols."""

    def __init__(self, index: SymbolIndex) -> None:
        self._index = index
        self._steps: dict[str, Steps] = {}
        self._tests: dict[str, bool] = {}

    def edges(
        self, references: Iterable[Reference], extractor: str, path: str | None = None
    ) -> list[Edge]:
        """Return the edges that references stand for, each (source, target, kind) once.

        Args:
            references: of any files.
            extractor: the name under which their edges are kept.
            path: the file of all of them, if it is one.
        """
        kept: dict[tuple[str, str, EdgeKind], Edge] = {}
        for reference in references:
            source = path or uids.path_of(reference.source) or ""
            for edge in self._edges(reference, extractor, source):
                key = (edge.source, edge.target, edge.kind)
                known = kept.get(key)
                if known is None or known.confidence < edge.confidence:
                    kept[key] = edge
        return list(kept.values())

    def _edges(self, reference: Reference, extractor: str, source: str) -> list[Edge]:
        steps = self._steps_for(source)
        if steps is None:
            return []
        if reference.module is None:
            outcome = self._anywhere(reference, steps)
        else:
            outcome = steps.resolve(reference.module, reference.name, source)
            if outcome.node is not None and reference.kind == "calls":
                outcome = self._called(outcome, reference, source, steps)
        return self._outcome(reference, outcome, source, extractor, steps)

    def _steps_for(self, path: str) -> Steps | None:
        suffix = path[path.rfind(".") :] if "." in path else ""
        if suffix not in self._steps:
            modules = modules_for(suffix)
            if modules is None:
                return None
            steps = Steps(self._index, modules)
            self._steps.update(dict.fromkeys(modules.suffixes, steps))
        return self._steps[suffix]

    def _anywhere(self, reference: Reference, steps: Steps) -> Outcome:
        """Look for a name in the whole tree: a method by its name, or what C's linker would find."""
        by_name = SAME_NAME in reference.signals
        wanted = ("method",) if by_name else ("function",)
        if not by_name and not steps.modules.shares_names:
            return Outcome(None, ("", reference.name), missing=True)
        found = steps.lookup.only(reference.name, wanted)
        if found is not None:
            return Outcome(found, signals=(SAME_NAME if by_name else LINKED,))
        if by_name:
            return UNKNOWN
        return Outcome(None, ("", reference.name), missing=True)

    def _called(self, outcome: Outcome, reference: Reference, source: str, steps: Steps) -> Outcome:
        """Return what a call of a value reaches: its `__call__`, or what a variable stands for."""
        module = reference.module or ""
        if outcome.is_value:
            return steps.resolve(module, f"{reference.name}.__call__", source)
        if outcome.node is not None and outcome.node.kind == "variable":
            value = steps.value_of(outcome.node)
            return value if value.node is not None else outcome
        return outcome

    def _outcome(
        self, reference: Reference, outcome: Outcome, source: str, extractor: str, steps: Steps
    ) -> list[Edge]:
        known = () if reference.module is None else reference.signals
        signals = known + outcome.signals
        kind = reference.kind
        if outcome.node is not None:
            kind = kind_for(kind, outcome.node.kind)
            if outcome.is_value:
                return []
            return self._edge(
                reference, outcome.node, kind, signals or (STATED,), source, extractor
            )
        dangles = outcome.missing and kind not in _MAY_DANGLE
        if outcome.outside is None or kind in _NEED_A_SYMBOL or dangles:
            guess = self._guess(reference, steps) if kind == "calls" else UNKNOWN
            if guess.node is not None:
                signals = guess.signals
                return self._edge(reference, guess.node, kind, signals, source, extractor)
            return []
        return self._stub(reference, outcome, signals, source, extractor)

    def _guess(self, reference: Reference, steps: Steps) -> Outcome:
        """Take the last name of a path that could not be followed for a method's, or a function's."""
        _, dot, last = reference.name.rpartition(".")
        if not dot or not last.isidentifier():
            return UNKNOWN
        if steps.modules.shares_names and (found := steps.lookup.only(last, ("function",))):
            implicit = OWN_METHOD in reference.signals  # a call in a method may be of a function
            if implicit or found.uid.endswith(f"::{reference.name}"):
                return Outcome(found, signals=(LINKED,))
        found = None if last in COMMON_METHODS else steps.lookup.only(last, ("method",))
        return Outcome(found, signals=(SAME_NAME,))

    def _edge(
        self, reference: Reference, node: Node, kind: EdgeKind, signals: tuple[Signal, ...],
        source: str, extractor: str,
    ) -> list[Edge]:  # fmt: skip
        weight = confidence(signals)
        if weight < DROP_BELOW or node.uid == reference.source:
            return []
        made = Edge(reference.source, node.uid, kind, weight, extractor, reference.line, signals)
        if kind not in _TESTING or node.path is None:
            return [made]
        if self._is_test(node.path) or not self._comes_from_test(reference.source, source):
            return [made]
        return [made, made._replace(kind="tested_by")]

    def _comes_from_test(self, uid: str, path: str) -> bool:
        """Whether a source is a test, or stands in a file of tests."""
        if self._is_test(path):
            return True
        node = self._index.node(uid)
        return node is not None and "test" in node.roles

    def _stub(
        self, reference: Reference, outcome: Outcome, signals: tuple[Signal, ...],
        source: str, extractor: str,
    ) -> list[Edge]:  # fmt: skip
        spelled, name = outcome.outside or ("", reference.name)
        module = absolute(spelled, source)
        if reference.kind == "imports":
            if reference.name and not outcome.missing:
                return []  # the import of its module is said already
            target = (
                uids.external(module, name) if outcome.missing and name else uids.module(module)
            )
            reason = UNRESOLVED if outcome.missing else STATED
        else:
            target = _external(module, name)
            reason = UNRESOLVED if outcome.missing or not module else OUTSIDE
        signals = tuple(dict.fromkeys((*signals, reason))) if signals else (reason,)
        weight = confidence(signals)
        if weight < DROP_BELOW:
            return []
        return [
            Edge(
                reference.source, target, reference.kind, weight, extractor, reference.line, signals
            )
        ]

    def _is_test(self, path: str) -> bool:
        known = self._tests.get(path)
        if known is None:
            known = self._tests[path] = is_test_path(path)
        return known


_external = lru_cache(maxsize=16_384)(uids.external)


def resolve(references: Iterable[Reference], index: SymbolIndex, extractor: str) -> list[Edge]:
    """Return the edges that references stand for in the tree that an index describes."""
    return Resolver(index).edges(references, extractor)


def stub(uid: str) -> Node | None:
    """Return the node to keep for the target of an edge that no file defines; None if malformed."""
    found = uids.parse(uid)
    if found is None:
        return None
    label = found.name or found.path or uid
    kind: NodeKind = "module" if found.kind == "module" else "external"
    return Node(
        uid, kind, label.rpartition(".")[2] if kind == "external" else label, None, roles=("stub",)
    )
