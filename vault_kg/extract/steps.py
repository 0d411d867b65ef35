"""Following a path of names through the tree: modules, re-exports, classes, attributes, results."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from vault_kg.extract import uids
from vault_kg.extract.confidence import ANNOTATED, INHERITED, RETURNED
from vault_kg.extract.lineage import merged
from vault_kg.extract.lookup import Lookup
from vault_kg.extract.model import THE_OBJECT, Node
from vault_kg.extract.modules.protocol import Location, Modules
from vault_kg.extract.outcomes import ABSENT, UNKNOWN, Outcome
from vault_kg.extract.protocol import SymbolIndex

Path = tuple[str, ...]
_MAX_DEPTH: Final = 25
_MAX_STEPS: Final = 16
_MARKS: Final = re.compile(r"\(\)|\[\]|\^")
_MANY_BASES: Final = 12
_MANY_STARS: Final = 12
_NAMESPACES: Final = 4
"""How many namespaces within a file, which are no nodes themselves, may precede a name."""


class Class(NamedTuple):
    """A class of the tree, or one outside (its module and name in place of file and name)."""

    file: str
    qualified: str
    node: Node | None


class Steps:
    """Follows paths by the module rules of one language, and remembers where they led."""

    def __init__(self, index: SymbolIndex, modules: Modules) -> None:
        self.modules = modules
        self.lookup = Lookup(index, modules)
        self._index = index
        self._resolved: dict[tuple[str, Path, str], Outcome] = {}
        self._locations: dict[tuple[str, str], Location | None] = {}
        self._lineages: dict[tuple[str, str], list[Class]] = {}

    def resolve(self, module: str, name: str, source: str) -> Outcome:
        """Return where the path `name` in a module leads that the file `source` names."""
        return self._from(module, tokens(name), source, 0)

    def value_of(self, variable: Node) -> Outcome:
        """Return what a variable stands for, as far as its file says so."""
        found = uids.parse(variable.uid)
        if found is None or found.path is None or found.name is None:
            return UNKNOWN
        return self._value(found.path, found.name, (), 0)

    def _from(self, module: str, path: Path, source: str, depth: int) -> Outcome:
        """Follow a path from a module, once; a path that leads back to itself leads nowhere."""
        key = (module, path, source)
        known = self._resolved.get(key)
        if known is None:
            self._resolved[key] = UNKNOWN
            known = self._resolved[key] = self._begin(module, path, source, depth)
        return known

    def _begin(self, module: str, path: Path, source: str, depth: int) -> Outcome:
        if depth > _MAX_DEPTH or len(path) > _MAX_STEPS:
            return UNKNOWN
        if module == "":
            found = self._in_file(source, path, depth)
            if found is not ABSENT or self.modules.package is None:
                return found
            module = self.modules.package
        location = self._locate(module, source)
        if location is None and path and self.modules.joins_names:
            joined = f"{module}.{path[0]}"
            inner = self._locate(joined, source)
            if inner is not None and inner.path:
                return self._in_module(inner, joined, path[1:], depth)
        if location is None:
            made = (RETURNED,) if "()" in path else ()
            return Outcome(None, (module, _plain(path)), made)
        return self._in_module(location, module, path, depth)

    def _locate(self, module: str, source: str) -> Location | None:
        key = (module, source)
        if key not in self._locations:
            self._locations[key] = self.modules.find(self._index, module, source)
        return self._locations[key]

    def _in_module(self, location: Location, module: str, path: Path, depth: int) -> Outcome:
        missing = Outcome(None, (module, _plain(path)), missing=True)
        if not path:
            node = self._module_node(location)
            return Outcome(node) if node else missing
        found = self._in_file(location.path, path, depth + 1) if location.path else ABSENT
        inner = self.modules.inner(self._index, location, path[0])
        if inner is None or (found is not ABSENT and found is not UNKNOWN):
            return missing if found is ABSENT else found
        if inner.path and location.folder is not None:
            found = self._in_file(inner.path, path, depth + 1)  # a package is its files
            if found is not ABSENT:
                return found
        return self._in_module(inner, f"{module}.{path[0]}", path[1:], depth + 1)

    def _module_node(self, location: Location) -> Node | None:
        if location.path is not None:
            return self.lookup.file(location.path)
        return self._index.node(uids.folder(location.folder)) if location.folder else None

    def _in_file(self, file: str, path: Path, depth: int) -> Outcome:
        """Follow a path from the top of a file."""
        if not path or path[0].startswith("#"):
            node = self.lookup.heading(file, path[0][1:]) if path else self.lookup.file(file)
            return Outcome(node) if node else UNKNOWN
        for used in range(1, min(len(path), self._longest_name()) + 1):
            qualified = ".".join(path[:used])
            node = self.lookup.defined(file, qualified)
            if node is not None:
                owner = Class(file, qualified, node)
                return self._in_symbol(owner, owner, path[used:], depth)
        target = self._index.exported(file, path[0])
        if target is not None:
            return self._jump(file, target, path[1:], depth)
        return self._in_stars(file, path, depth)

    def _longest_name(self) -> int:
        return _NAMESPACES if self.modules.spreads_classes else 1

    def _in_stars(self, file: str, path: Path, depth: int) -> Outcome:
        """Follow a path from the first of the modules whose names a file imports all."""
        for number in range(_MANY_STARS):
            star = self._index.exported(file, f"*{number}")
            if star is None:
                break
            found = self._jump(file, star, path, depth)
            if found.node is not None:
                return found
        return ABSENT

    def _in_symbol(self, symbol: Class, holder: Class, path: Path, depth: int) -> Outcome:
        """Follow a path from a symbol; `holder` is the class through which a method was reached."""
        file, qualified, node = symbol
        if not path:
            return Outcome(node)
        if node is not None and node.kind in ("class", "interface"):
            return self._in_class(symbol, path, depth)
        if path[0] != "()":
            return self._value(file, qualified, path, depth)
        if path[1:2] == ("[]",) and (held := self._index.exported(file, f"{qualified}()[]")):
            return self._jump(file, held, path[2:], depth).because(RETURNED)
        returned = self._index.exported(file, f"{qualified}()")
        if returned is None:
            return UNKNOWN
        if returned == THE_OBJECT:
            return self._in_class(holder, path, depth).because(RETURNED)
        return self._jump(file, returned, path[1:], depth).because(RETURNED)

    def _value(self, file: str, qualified: str, path: Path, depth: int) -> Outcome:
        """Follow a path from what a variable, attribute or property is."""
        if path[:1] == ("[]",) and (held := self._index.exported(file, f"{qualified}[]")):
            return self._jump(file, held, path[1:], depth).because(ANNOTATED)
        value = self._index.exported(file, qualified)
        if value is None:
            return UNKNOWN
        found = self._jump(file, value, path, depth)
        return found.because(ANNOTATED) if value.endswith("()") else found

    def _in_class(self, owner: Class, path: Path, depth: int) -> Outcome:
        """Follow a path from a class or, behind `()`, from an instance of it."""
        if depth > _MAX_DEPTH:
            return UNKNOWN
        if path[0] == "^":
            return self._inherited(owner, path[1:], depth)
        if path[0] != "()":
            return self._member(owner, path, depth)
        rest = path[1:]
        if not rest:
            return Outcome(owner.node, is_value=True)
        return self._in_class(owner, ("__call__", *rest) if rest[0] == "()" else rest, depth + 1)

    def _inherited(self, owner: Class, path: Path, depth: int) -> Outcome:
        """Follow a path from what stands behind a class in its lineage."""
        path = path[1:] if path[:1] == ("()",) and len(path) > 1 else path
        if path and path != ("()",):
            return self._member(owner, path, depth, skipped=1)
        behind = self._lineage(owner, depth)[1:2]
        return (
            Outcome(behind[0].node, signals=(INHERITED,)) if behind and behind[0].node else UNKNOWN
        )

    def _member(self, owner: Class, path: Path, depth: int, skipped: int = 0) -> Outcome:
        """Follow a path from the first class of a lineage that has its first name."""
        outside = UNKNOWN
        for number, one in enumerate(self._lineage(owner, depth)[skipped:], skipped):
            if one.node is None:
                if outside is UNKNOWN:
                    name = f"{one.qualified}.{_plain(path)}".strip(".")
                    outside = Outcome(None, (one.file, name), (INHERITED,))
                continue
            found = self._own_member(one, owner, path, depth)
            if found is not ABSENT:
                return found.because(INHERITED) if number else found
        return outside

    def _own_member(self, one: Class, holder: Class, path: Path, depth: int) -> Outcome:
        """Follow a path from what one class defines by its first name."""
        inner = f"{one.qualified}.{path[0]}"
        node = self.lookup.defined(one.file, inner)
        if node is None and self.modules.spreads_classes:
            node = self.lookup.method(one.file, inner)
        if node is not None:
            return self._in_symbol(
                Class(node.path or one.file, inner, node), holder, path[1:], depth
            )
        found = self._value(one.file, inner, path[1:], depth) if path[1:] else UNKNOWN
        return ABSENT if found is UNKNOWN else found

    def _lineage(self, owner: Class, depth: int) -> list[Class]:
        """Return a class and its bases in the order in which they are searched."""
        key = (owner.file, owner.qualified)
        if key not in self._lineages:
            self._lineages[key] = [owner]  # where bases lead back to it
            bases = self._bases(owner, depth)
            self._lineages[key] = merged(owner, [self._lineage(base, depth + 1) for base in bases])
        return self._lineages[key]

    def _bases(self, owner: Class, depth: int) -> list[Class]:
        found: list[Class] = []
        if owner.node is None or depth > _MAX_DEPTH:
            return found
        for number in range(_MANY_BASES):
            base = self._index.exported(owner.file, f"{owner.qualified}^{number}")
            if base is None:
                break
            outcome = self._jump(owner.file, base, (), depth)
            if outcome.node is not None and (named := uids.parse(outcome.node.uid)):
                found.append(Class(named.path or "", named.name or "", outcome.node))
            elif outcome.outside is not None:
                found.append(Class(*outcome.outside, None))
        return found

    def _jump(self, file: str, target: str, rest: Path, depth: int) -> Outcome:
        """Go on from what a name of a file stands for."""
        module, _, name = target.rpartition(":")
        return self._from(module, tokens(name) + rest, file, depth + 1)


@lru_cache(maxsize=65536)
def tokens(name: str) -> Path:
    """Return the steps of a path: `Repo().save` is `Repo`, `()`, `save`."""
    steps: list[str] = []
    for part in name.split(".") if name else ():
        mark = _MARKS.search(part)
        if mark is None:
            steps.append(part)
        else:
            if mark.start():
                steps.append(part[: mark.start()])
            steps += _MARKS.findall(part, mark.start())
    return tuple(steps)


def _plain(path: Path) -> str:
    """Return a path as the name of something outside: without calls and subscripts."""
    return ".".join(step for step in path if not _MARKS.fullmatch(step))
