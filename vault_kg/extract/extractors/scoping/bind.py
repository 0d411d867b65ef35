"""From uses to edges within the file, and to references where other files are needed."""

from __future__ import annotations

from vault_kg.extract.confidence import (
    REBOUND,
    SAME_FILE,
    SAME_NAME,
    STRING,
    UNRESOLVED,
    confidence,
)
from vault_kg.extract.extractors.scoping.evaluate import Evaluator, Found, Place
from vault_kg.extract.extractors.scoping.file import FileScopes
from vault_kg.extract.extractors.scoping.scopes import Scope
from vault_kg.extract.kinds import COMMON_METHODS, kind_for
from vault_kg.extract.model import Edge, EdgeKind, Reference, Signal


class Binder:
    """Collects the edges and references of a file, each once."""

    def __init__(self, found: FileScopes, evaluator: Evaluator, extractor: str) -> None:
        self.edges: dict[tuple[str, str, EdgeKind], Edge] = {}
        self.references: dict[tuple[str, EdgeKind, str, str | None], Reference] = {}
        self._evaluator = evaluator
        self._definitions = found.definitions
        self._extractor = extractor
        self._found = found
        self._assigned = {f"{one.owner}.{one.name}" for one in found.attributes}

    def run(self) -> None:
        """Lead back every use of the file."""
        for scope in self._found.scopes:
            if scope.uses:
                self._uses(scope)
        for scope, text, line in self._found.strings:
            module, _, name = text.partition(":") if ":" in text else text.rpartition(".")
            self._refer(Reference(scope.uid, "references", name, module, line, (STRING,)))
        for imported in self._found.imports:
            self._refer(Reference(imported.uid, "imports", "", imported.module, imported.line))
            if imported.name not in ("", "*"):
                self._refer(
                    Reference(
                        imported.uid, "imports", imported.name, imported.module, imported.line
                    )
                )

    def _uses(self, scope: Scope) -> None:
        """Lead back the uses of a scope, those that mean the same once.

        Only where a scope binds a name several times does it matter at which line it is used.
        """
        bindings = scope.bindings
        done: set[tuple[str, str, EdgeKind]] = set()
        for root, path, kind, line in scope.uses:
            if not root:
                self._by_name(scope, path, line)
                continue
            use = root, path, kind
            if use not in done:
                if len(bindings.get(root, ())) < 2:
                    done.add(use)
                self._use(scope, root, path, kind, line)

    def _use(self, scope: Scope, root: str, path: str, kind: EdgeKind, line: int) -> None:
        found = self._evaluator.find(scope, root, path, line)
        holder = found.holder
        if holder is not None and (holder.parent is None or holder.is_class):
            self._variable(scope, holder, root, line)
        for place in found.places:
            self._place(scope, place, kind, line)
        if kind == "calls" and not found.places:
            self._unknown(scope, root, path, line, found)

    def _unknown(self, scope: Scope, root: str, path: str, line: int, found: Found) -> None:
        if path:
            if found.bound and found.holder is not None:
                self._by_name(scope, path, line)
        elif not found.bound:
            self._refer(Reference(scope.uid, "calls", root, None, line, (UNRESOLVED,)))

    def _by_name(self, scope: Scope, path: str, line: int) -> None:
        """Refer to a method of an unknown object by its name alone."""
        name = path.rpartition(".")[2]
        if name.isidentifier() and name not in COMMON_METHODS:
            self._refer(Reference(scope.uid, "calls", name, None, line, (SAME_NAME,)))

    def _variable(self, scope: Scope, holder: Scope, root: str, line: int) -> None:
        """Note that a variable of the module or of a class is read."""
        qualified = holder.inside(root)
        if self._definitions.kinds.get(qualified) == "variable":
            self._edge(scope.uid, qualified, "reads", line, (SAME_FILE,))

    def _place(self, scope: Scope, place: Place, kind: EdgeKind, line: int) -> None:
        if kind != "calls" and place.path.endswith(("()", "[]")):
            return  # a value is no symbol
        if place.module == "" and not place.path.endswith("()"):
            qualified = place.path.replace("()", "", 1)
            known = self._definitions.kinds.get(qualified)
            is_direct = known == "method" or "()" not in place.path
            if known and is_direct and not (known == "variable" and kind == "calls"):
                signals = place.signals or (SAME_FILE,)
                if qualified in self._assigned:
                    signals = (*signals, REBOUND)
                self._edge(scope.uid, qualified, kind, line, signals)
                return
        self._refer(Reference(scope.uid, kind, place.path, place.module, line, place.signals))

    def _edge(
        self, source: str, qualified: str, kind: EdgeKind, line: int, signals: tuple[Signal, ...]
    ) -> None:
        target_kind = self._definitions.kinds[qualified]
        target = self._definitions.uid(target_kind, qualified)
        if target == source:
            return
        kind = kind_for(kind, target_kind)
        key = (source, target, kind)
        weight = confidence(signals)
        known = self.edges.get(key)
        if known is None or known.confidence < weight:
            self.edges[key] = Edge(source, target, kind, weight, self._extractor, line, signals)

    def _refer(self, reference: Reference) -> None:
        key = (reference.source, reference.kind, reference.name, reference.module)
        known = self.references.get(key)
        if known is None or confidence(known.signals) < confidence(reference.signals):
            self.references[key] = reference
