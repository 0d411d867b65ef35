"""Scopes of a file: what each name in them is bound to, and which names are used."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from vault_kg.extract.model import EdgeKind, Signal

Origin = Literal["symbol", "import", "value", "choice", "nothing", "opaque"]


class Binding(NamedTuple):
    """One thing that a name is bound to.

    A `symbol` has its qualified name in `path`; an `import` has `module` and the `path` in it; a
    `value` is the expression `root` + `path`, which has a meaning in the scope of the binding;
    `choice` is one of several such values that a table or list holds. `nothing` is None; of an
    `opaque` one nothing is known.
    """

    origin: Origin
    module: str
    root: str
    path: str
    line: int
    sure: bool
    """Whether it is made whenever its scope runs, in no branch or loop."""
    signal: Signal | None = None
    many: bool = False
    """Whether the value is what the bound collection holds."""


class Use(NamedTuple):
    """A name with what follows it (`root` `path`, as in `repo` `.find().name`), and its place."""

    root: str
    path: str
    kind: EdgeKind
    line: int


class Scope:
    """A module, class, function, lambda or comprehension."""

    __slots__ = (
        "bindings", "globals", "is_class", "is_inner", "is_open", "owner", "parent", "qualified",
        "receiver", "returns", "uid", "uses", "yields",
    )  # fmt: skip

    def __init__(
        self, parent: Scope | None, uid: str, qualified: str, *, is_class: bool = False
    ) -> None:
        self.parent = parent
        self.uid = uid
        self.qualified = qualified
        """Dotted name of the definition around it, "" in the module."""
        self.is_class = is_class
        self.is_open = False
        """Whether the methods of this class see its members without naming it."""
        self.is_inner = False
        """Whether it is a lambda or a comprehension."""
        self.owner: str | None = parent.owner if parent else None
        """Qualified name of the class whose method, or whose body, this is."""
        self.receiver: str | None = None
        """Name of the first parameter, if this is a method that has one."""
        self.bindings: dict[str, list[Binding]] = {}
        self.uses: list[Use | tuple[str, str, EdgeKind, int]] = []
        """Many: a walk that knows their order may put plain tuples."""
        self.globals: set[str] = set()
        self.returns: list[tuple[str, str] | None] = []
        """Paths of the expressions that a function returns, None for those that have none."""
        self.yields = False

    def alias(self, uid: str, qualified: str) -> Scope:
        """Return a scope with the same names, whose uses belong to another definition."""
        header = Scope(self.parent, uid, qualified, is_class=self.is_class)
        header.bindings = self.bindings
        header.globals = self.globals
        return header

    def bind(self, name: str, binding: Binding) -> None:
        """Note that a name is bound, in the module where the scope declares it global."""
        scope = self
        if name in self.globals:
            while scope.parent is not None:
                scope = scope.parent
            binding = binding._replace(sure=False)  # made when a function runs, if it does
        known = scope.bindings.get(name)
        if known is None:
            scope.bindings[name] = [binding]
        else:
            known.append(binding)

    def hides(self, name: str) -> bool:
        """Whether a name is a local variable of which nothing is known, so that it leads nowhere."""
        known = self.bindings.get(name)
        return (
            known is not None
            and len(known) == 1
            and known[0].origin == "opaque"
            and self.parent is not None
            and not self.is_class
        )

    def inside(self, name: str) -> str:
        """Return the qualified name of something defined here."""
        return f"{self.qualified}.{name}" if self.qualified else name

    def find(self, name: str) -> Scope | None:
        """Return the scope in which a name that is used here is bound, None if in none."""
        scope: Scope | None = self
        if name in self.globals:
            while scope is not None and scope.parent is not None:
                scope = scope.parent
        while scope is not None:
            if name in scope.bindings and (not scope.is_class or scope is self or scope.is_open):
                return scope
            scope = scope.parent
        return None


MANY_CHOICES: Final = 50
"""How many values of a dispatch table are followed."""
