"""What the names of a file stand for, so that other files' paths can go through them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from vault_kg.extract.extractors.scoping.evaluate import Evaluator
from vault_kg.extract.extractors.scoping.file import FileScopes, Returning
from vault_kg.extract.extractors.scoping.scopes import Binding, Scope
from vault_kg.extract.model import THE_OBJECT


def exports_of(found: FileScopes, evaluator: Evaluator) -> dict[str, str]:
    """Return `<module>:<path>` by name, as `Extraction.exports` describes it."""
    return dict(_Exports(found, evaluator).all())


_SELF: Final = ("Self", "()")
"""The annotation of what a method returns that returns its own object."""


def _returns_object(scope: Scope) -> bool:
    return set(scope.returns) == {(scope.receiver, "")}


class _Exports:
    def __init__(self, found: FileScopes, evaluator: Evaluator) -> None:
        self._found = found
        self._evaluator = evaluator

    def all(self) -> Iterator[tuple[str, str]]:
        """Give every export; of names with several meanings, none."""
        for number, module in enumerate(self._found.stars):
            yield f"*{number}", f"{module}:"
        yield from self._names(self._found.module, "")
        for qualified, scope in self._found.classes.items():
            yield from self._names(scope, qualified + ".")
        for qualified, bases, header in self._found.bases:
            for number, (root, path) in enumerate(bases):
                if place := self._one(header, root, path):
                    yield f"{qualified}^{number}", place
        yield from self._attributes()
        for returning in self._found.returns:
            yield from self._returned(returning)

    def _names(self, scope: Scope, prefix: str) -> Iterator[tuple[str, str]]:
        for name, bindings in scope.bindings.items():
            real = [b for b in bindings if b.origin not in ("nothing", "choice")]
            if len(real) == 1 and real[0].origin in ("import", "value"):
                yield from self._value(prefix + name, real[0], scope)

    def _attributes(self) -> Iterator[tuple[str, str]]:
        """Give the attributes that methods assign, where all assignments agree."""
        values: dict[str, set[tuple[str, str]]] = {}
        for owner, name, binding, scope in self._found.attributes:
            if binding.origin in ("nothing", "choice"):
                continue
            known = values.setdefault(f"{owner}.{name}", set())
            known.update(self._value(f"{owner}.{name}", binding, scope))
        for found in values.values():
            if len(found) == 1:
                yield from found

    def _value(self, name: str, binding: Binding, scope: Scope) -> Iterator[tuple[str, str]]:
        if binding.origin == "import":
            yield name, f"{binding.module}:{binding.path}"
        elif binding.origin == "value":
            place = self._one(scope, binding.root, binding.path, binding.line)
            own = ":" + name.replace(".", "().")
            if place and not place.startswith((own, f":{name}")):
                yield (f"{name}[]" if binding.many else name), place

    def _returned(self, returning: Returning) -> Iterator[tuple[str, str]]:
        qualified, declared, many, scope, is_open = returning
        name = qualified if qualified in self._found.properties else f"{qualified}()"
        if scope.receiver and (declared == _SELF or (is_open and _returns_object(scope))):
            yield name, THE_OBJECT
        elif declared is not None:
            if place := self._one(scope, *declared):
                yield (f"{name}[]" if many else name), place
        elif is_open and not scope.yields:
            given = set(scope.returns)
            if len(given) == 1 and (only := given.pop()) and (place := self._one(scope, *only)):
                yield name, place

    def _one(self, scope: Scope, root: str, path: str, line: int = 1 << 30) -> str | None:
        places = self._evaluator.find(scope, root, path, line).places
        if len(places) != 1:
            return None
        return f"{places[0].module}:{places[0].path}"
