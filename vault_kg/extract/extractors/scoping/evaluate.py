"""From a use of a name to the places that it may mean: in this file, or in an imported module."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from vault_kg.extract.confidence import (
    DISPATCH_TABLE,
    IMPORTED,
    ONE_OF_SEVERAL,
    REBOUND,
    RETURNED,
)
from vault_kg.extract.extractors.scoping.scopes import Binding, Scope
from vault_kg.extract.model import Signal

_MAX_DEPTH: Final = 6
_MAX_PATH: Final = 200
_MAX_OPTIONS: Final = 3
_TAKES_ONE: Final = ("[]", ".get()", ".pop()", ".values()[]", ".setdefault()")


class Place(NamedTuple):
    """A path in a module ("" is this file), and why the use leads there."""

    module: str
    path: str
    signals: tuple[Signal, ...]


class Found(NamedTuple):
    """The places that a use may mean, and whether its name is bound at all."""

    places: list[Place]
    bound: bool
    holder: Scope | None = None


NO_PLACE: Final = Found([], bound=True)
"""A name of the language itself."""
UNBOUND: Final = Found([], bound=False)

Unbound = Callable[[Scope, str, str], Found]
"""What a language says of a name, and what follows it, that no scope binds."""


class Evaluator:
    """Leads names back to what they are bound to."""

    def __init__(self, unbound: Unbound) -> None:
        self._unbound = unbound

    def find(self, scope: Scope, root: str, path: str, line: int, depth: int = 0) -> Found:
        """Return the places that `root` `path` may mean where it stands in a scope.

        Args:
            scope: where it is used.
            root: its first name.
            path: what follows it.
            line: of the use; later bindings of the same scope do not count, nor do those that an
                unconditional one between them and the use replaces.
            depth: of names that lead to names; a path that goes on for ever is unknown.
        """
        holder = scope.find(root)
        if holder is None:
            return self._unbound(scope, root, path)
        bindings = holder.bindings[root]
        if len(bindings) == 1:
            binding = bindings[0]
            if binding.origin == "opaque" or binding.origin == "nothing":
                return Found([], True, holder)
            return Found(self._through(holder, binding, path, depth), True, holder)
        live = _live(bindings, line) if holder is scope else _last(bindings)
        return Found(self._any_of(holder, live, path, depth), True, holder)

    def _any_of(self, holder: Scope, bindings: list[Binding], path: str, depth: int) -> list[Place]:
        unknown = False
        options: dict[tuple[str, str], Place] = {}
        tables: dict[tuple[str, str], Place] = {}
        for binding in bindings:
            if binding.origin == "nothing":
                continue
            found = self._through(holder, binding, path, depth)
            unknown |= not found
            kept = tables if binding.origin == "choice" else options
            for place in found:
                kept.setdefault((place.module, place.path), place)
        if len(options) > _MAX_OPTIONS:
            return list(tables.values())
        places = list(options.values())
        if len(places) > 1:
            places = _because(places, (ONE_OF_SEVERAL,))
        elif unknown:
            places = _because(places, (REBOUND,))
        return places + list(tables.values())

    def _through(self, holder: Scope, binding: Binding, path: str, depth: int) -> list[Place]:
        """Return where one binding leads."""
        origin, module, root, start, line, _, signal, many = binding
        reason = (signal,) if signal else ()
        match origin:
            case "symbol":
                return [Place("", start + path, reason)]
            case "import":
                joined = start + path if start else path.removeprefix(".")
                return [Place(module, joined, (IMPORTED,))]
            case "choice":
                taken = _taken(path)
                if taken is None:
                    return []
                path, reason = taken, (DISPATCH_TABLE,)
            case "value":
                if many:
                    taken = _taken(path)
                    if taken is None:
                        return []
                    path = taken
            case _:
                return []
        if depth >= _MAX_DEPTH or len(path) > _MAX_PATH:
            return []
        inner = self.find(holder, root, start + path, line, depth + 1)
        if signal is None and path and start.endswith("()"):
            reason = (*reason, RETURNED)
        return _because(inner.places, reason)


def _because(places: list[Place], reason: tuple[Signal, ...]) -> list[Place]:
    """Return places with further reasons to doubt them."""
    if not reason or not places:
        return places
    return [Place(module, path, (*signals, *reason)) for module, path, signals in places]


def _live(bindings: list[Binding], line: int) -> list[Binding]:
    """Return the bindings that may still stand at a line of their own scope."""
    before = [binding for binding in bindings if binding.line < line]
    if not before:
        return bindings
    for index in range(len(before) - 1, 0, -1):
        if before[index].sure and before[index].line != before[index - 1].line:
            return before[index:]
    return before


def _last(bindings: list[Binding]) -> list[Binding]:
    """Return the bindings that may stand once their scope has run, which is when inner ones do."""
    for index in range(len(bindings) - 1, 0, -1):
        if bindings[index].sure and bindings[index].line != bindings[index - 1].line:
            return bindings[index:]
    return bindings


def _taken(path: str) -> str | None:
    """Return what follows when one item is taken from a collection, None if none is."""
    for way in _TAKES_ONE:
        if path.startswith(way):
            return path[len(way) :]
    return None


def method_owner(scope: Scope) -> str | None:
    """Return the class in whose method a scope stands."""
    inner: Scope | None = scope
    while inner is not None:
        if inner.receiver is not None:
            return inner.owner
        inner = inner.parent
    return None
