"""Go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from vault_kg.extract.confidence import SAME_PACKAGE
from vault_kg.extract.extractors.nodes import is_test_path
from vault_kg.extract.extractors.scoping.evaluate import NO_PLACE, Found, Place
from vault_kg.extract.extractors.scoping.file import Imported
from vault_kg.extract.extractors.scoping.scopes import Binding, Scope, Use
from vault_kg.extract.extractors.treesitter.chains import Chains, Path, Step, names_in
from vault_kg.extract.extractors.treesitter.extractor import TreeSitterExtractor
from vault_kg.extract.extractors.treesitter.walk import Handler, TreeWalk, line_of, text
from vault_kg.extract.extractors.web_roles import http_role

if TYPE_CHECKING:
    from tree_sitter import Node

    from vault_kg.extract.model import EdgeKind

_BUILTINS: Final = frozenset(
    """append cap clear close complex copy delete imag len make max min new panic print println real
    recover any bool byte comparable complex64 complex128 error float32 float64 int int8 int16 int32
    int64 rune string uint uint8 uint16 uint32 uint64 uintptr true false nil iota _""".split()
)
_NAMES: Final = frozenset({"identifier"})
_SELECTOR: Final = Step("operand", "field")


class GoWalk(TreeWalk):
    """The walk over a Go file."""

    CHAINS = Chains(
        names=_NAMES,
        steps={
            "selector_expression": _SELECTOR,
            "call_expression": Step("function", mark="()"),
            "composite_literal": Step("type", mark="()", is_new=True),
            "index_expression": Step("operand", mark="[]"),
            "unary_expression": Step("operand"),
            "parenthesized_expression": Step(""),
        },
        dotted_types={"qualified_type": ("package", "name")},
        through_types={"pointer_type": "", "generic_type": "type", "parenthesized_type": ""},
        many_types={"slice_type": "element", "array_type": "element", "map_type": "value"},
        plain_types=frozenset({"type_identifier", "identifier", "package_identifier"}),
    )

    def handlers(self) -> dict[str, Handler]:
        """Return what to do with each kind of node."""
        return {
            "import_spec": self._import,
            "function_declaration": self._function,
            "method_declaration": self._method,
            "type_spec": self._type,
            "type_alias": self._type,
            "const_spec": self._variables,
            "var_spec": self._variables,
            "short_var_declaration": self._short,
            "range_clause": self._range,
            "func_literal": self._closure,
            "composite_literal": self._composite,
            "call_expression": self._called,
            "qualified_type": self._qualified,
            "field_identifier": _nothing,
            "package_clause": _nothing,
            "keyed_element": self._keyed,
        }

    def unbound(self, scope: Scope, root: str, path: str) -> Found:  # noqa: ARG002
        """Return the place in the file's own package, whose files share their names."""
        if root in _BUILTINS:
            return NO_PLACE
        return Found([Place(".", root + path, (SAME_PACKAGE,))], bound=True)

    def _import(self, scope: Scope, node: Node) -> None:
        path = node.child_by_field_name("path")
        if path is None:
            return
        module = text(path)[1:-1]
        self.found.imports.append(Imported(module, "", line_of(node), scope.uid))
        alias = node.child_by_field_name("name")
        name = text(alias) if alias is not None else _package_name(module)
        if name == ".":
            self.found.stars.append(module)
        elif name != "_":
            scope.bind(name, Binding("import", module, "", "", line_of(node), True))

    def _function(self, scope: Scope, node: Node) -> None:
        name = node.child_by_field_name("name")
        if name is None:
            return
        roles: tuple[str, ...] = ("entry:main",) if text(name) == "main" else ()
        if is_test_path(self.path) and text(name).startswith(
            ("Test", "Benchmark", "Fuzz", "Example")
        ):
            roles = ("test",)
        body = node.child_by_field_name("body")
        self._body(self.define(scope, node, "function", text(name), body=body, roles=roles), node)

    def _method(self, scope: Scope, node: Node) -> None:
        name = node.child_by_field_name("name")
        receiver = node.child_by_field_name("receiver")
        given = receiver.named_children[0] if receiver and receiver.named_children else None
        owner = self.CHAINS.type_of(given.child_by_field_name("type")) if given else None
        if name is None or given is None or owner is None:
            return
        inner = self.define(
            scope,
            node,
            "method",
            text(name),
            body=node.child_by_field_name("body"),
            owner=owner.root,
        )
        called = given.child_by_field_name("name")
        if called is not None:
            self.bind_receiver(inner, text(called), owner.root)
        self._body(inner, node)

    def _body(self, inner: Scope, node: Node) -> None:
        self._parameters(inner, node.child_by_field_name("parameters"))
        result = node.child_by_field_name("result")
        returned = result
        if result is not None and result.type == "parameter_list":
            self._parameters(inner, result)
            first = result.named_children[0] if result.named_children else None
            returned = first.child_by_field_name("type") if first else None
        self.returns(inner, self.CHAINS.type_of(returned))
        self.visit(inner, [result, node.child_by_field_name("body")])

    def _parameters(self, inner: Scope, given: Node | None) -> None:
        for part in given.named_children if given is not None else ():
            declared = part.child_by_field_name("type")
            path = self.CHAINS.type_of(declared)
            if path is not None and part.type == "variadic_parameter_declaration":
                path = path._replace(many=True)
            for name in part.children_by_field_name("name"):
                self.bind(inner, text(name), None, path, line_of(part))
            self.visit(inner, [declared])

    def _type(self, scope: Scope, node: Node) -> None:
        name = node.child_by_field_name("name")
        kind = node.child_by_field_name("type")
        if name is None or kind is None:
            return
        around = node.parent if node.parent and node.parent.type == "type_declaration" else None
        is_interface = kind.type == "interface_type"
        inner = self.define(
            scope,
            node,
            "interface" if is_interface else "class",
            text(name),
            body=kind,
            around=around,
        )
        bases: list[tuple[Node, EdgeKind]] = []
        for field in names_in([kind], frozenset({"field_declaration"})):
            declared = field.child_by_field_name("type")
            named = field.children_by_field_name("name")
            path = self.CHAINS.type_of(declared)
            for one in named:
                self.bind(inner, text(one), None, path, line_of(field))
            if not named and declared is not None:
                bases.append((declared, "inherits"))
                if path is not None:
                    label = (path.root + path.path).removesuffix("()").rpartition(".")[2]
                    self.bind(inner, label, None, path, line_of(field))
        self.inherits(inner, bases)
        for method in names_in([kind], frozenset({"method_elem", "method_spec"})):
            self._abstract(inner, method)
        self.visit(inner, [kind] if not is_interface else [])

    def _abstract(self, scope: Scope, node: Node) -> None:
        name = node.child_by_field_name("name")
        if name is not None:
            inner = self.define(scope, node, "method", text(name), roles=("abstract",))
            self._body(inner, node)

    def _variables(self, scope: Scope, node: Node) -> None:
        declared = node.child_by_field_name("type")
        values = node.child_by_field_name("value")
        given = values.named_children if values is not None else []
        names = node.children_by_field_name("name")
        for number, name in enumerate(names):
            value = given[number] if len(given) == len(names) else None
            self.define_variable(scope, node, text(name), value, self.CHAINS.type_of(declared))
        self.visit(scope, [declared, values])

    def _short(self, scope: Scope, node: Node) -> None:
        left = node.child_by_field_name("left")
        right = node.child_by_field_name("right")
        names = left.named_children if left is not None else []
        values = right.named_children if right is not None else []
        for number, name in enumerate(names):
            value = values[number] if number < len(values) else None
            self.bind(scope, text(name), value, None, line_of(node))
        self.visit(scope, [right])

    def _range(self, scope: Scope, node: Node) -> None:
        left = node.child_by_field_name("left")
        right = node.child_by_field_name("right")
        found = self.CHAINS.path_of(right)
        for number, name in enumerate(left.named_children if left is not None else ()):
            held = Path(found[0], found[1] + "[]") if found and number else None
            scope.bind(text(name), self.binding(None, held, line_of(node))._replace(signal=None))
        self.visit(scope, [right])

    def _closure(self, scope: Scope, node: Node) -> None:
        inner = self.found.inner(scope, scope.uid, scope.qualified)
        inner.is_inner = True
        self._parameters(inner, node.child_by_field_name("parameters"))
        self.visit(inner, [node.child_by_field_name("body")])

    def _composite(self, scope: Scope, node: Node) -> None:
        made = self.CHAINS.type_of(node.child_by_field_name("type"))
        if made is not None and not made.many:
            path = made.path.removesuffix("()")
            scope.uses.append(Use(made.root, path, "calls", line_of(node)))
        self.visit(scope, [node.child_by_field_name("body")])

    def _keyed(self, scope: Scope, node: Node) -> None:
        """Visit a value; a key is a field's name unless it is more than a name."""
        parts = node.named_children
        key = parts[0].named_children[0] if parts and parts[0].named_children else None
        plain = key is not None and key.type in ("identifier", "field_identifier")
        self.visit(scope, parts[1:] if plain else parts)

    def _called(self, scope: Scope, node: Node) -> None:
        called = self.CHAINS.called(node)
        given = self.CHAINS.arguments(node)
        if called is not None and len(given) == 2 and given[0].type == "interpreted_string_literal":
            route = text(given[0])[1:-1].rpartition(" ")[2]
            if role := http_role((called[0] + called[1]).rpartition(".")[2], route):
                self.routes.append((text(given[1]), *role))
        self.use(scope, node, "calls")

    def _qualified(self, scope: Scope, node: Node) -> None:
        found = self.CHAINS.type_of(node)
        if found is not None:
            path = found.path.removesuffix("()")
            scope.uses.append(Use(found.root, path, "has_type", line_of(node)))


def _nothing(scope: Scope, node: Node) -> None:
    """Pass over a node that names nothing of the file."""


def _package_name(module: str) -> str:
    """Return the name by which an imported package goes: its last part, but for a version."""
    parts = module.split("/")
    last = parts[-1]
    if len(parts) > 1 and last[:1] == "v" and last[1:].isdigit():
        last = parts[-2]
    return last.partition(".")[0].removeprefix("go-").replace("-", "_")


class GoExtractor(TreeSitterExtractor):
    """Reads Go."""

    name = "go"
    suffixes = frozenset({".go"})
    grammar = "tree_sitter_go"
    walk = GoWalk
