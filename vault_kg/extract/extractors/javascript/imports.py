"""What a JavaScript or TypeScript file imports and exports, by `import`, `export` and `require`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_kg.extract.extractors.javascript.syntax import CHAINS, string
from vault_kg.extract.extractors.scoping.file import Imported
from vault_kg.extract.extractors.scoping.scopes import Binding, Scope
from vault_kg.extract.extractors.treesitter.walk import TreeWalk, line_of, text

if TYPE_CHECKING:
    from tree_sitter import Node


class Imports(TreeWalk):
    """Takes in statements that bring or offer names."""

    CHAINS = CHAINS

    def _import(self, scope: Scope, node: Node) -> None:
        source = node.child_by_field_name("source")
        if source is None:
            return
        module = string(source)
        self.found.imports.append(Imported(module, "", line_of(node), scope.uid))
        for clause in node.named_children:
            if clause.type == "import_clause":
                for part in clause.named_children:
                    self._imported(scope, part, module)

    def _imported(self, scope: Scope, part: Node, module: str) -> None:
        line = line_of(part)
        if part.type == "identifier":
            scope.bind(text(part), Binding("import", module, "", "default", line, True))
        elif part.type == "namespace_import":
            name = text(part.named_children[0])
            scope.bind(name, Binding("import", module, "", "", line, True))
        else:
            for one in part.named_children:
                name_node = one.child_by_field_name("name")
                if name_node is not None:
                    alias = one.child_by_field_name("alias") or name_node
                    name = text(name_node)
                    self.found.imports.append(Imported(module, name, line, scope.uid))
                    scope.bind(text(alias), Binding("import", module, "", name, line, True))

    def _export(self, scope: Scope, node: Node) -> None:
        source = node.child_by_field_name("source")
        module = string(source) if source is not None else None
        if module is not None:
            self.found.imports.append(Imported(module, "", line_of(node), scope.uid))
        clause = next((c for c in node.named_children if c.type == "export_clause"), None)
        if clause is not None:
            for one in clause.named_children:
                self._exported(scope, one, module)
        elif module is not None:
            self.found.stars.append(module)
        declaration = node.child_by_field_name("declaration")
        value = node.child_by_field_name("value")
        named = (declaration or value) if any(c.type == "default" for c in node.children) else None
        if named is not None:
            name = named.child_by_field_name("name") or named
            if found := self.CHAINS.path_of(name) or (text(name), ""):
                scope.bind("default", Binding("value", "", *found, line_of(node), True))
        self.visit(scope, [c for c in node.named_children if c.type in ("decorator",)])
        self.visit(scope, [declaration, value])

    def _exported(self, scope: Scope, one: Node, module: str | None) -> None:
        name_node = one.child_by_field_name("name")
        if name_node is None:
            return
        name = text(name_node)
        alias = text(one.child_by_field_name("alias") or name_node)
        if module is not None:
            scope.bind(alias, Binding("import", module, "", name, line_of(one), True))
        elif alias != name:
            scope.bind(alias, Binding("value", "", name, "", line_of(one), True))

    def _required(self, scope: Scope, name: Node, module: str, line: int) -> None:
        if name.type == "identifier":
            scope.bind(text(name), Binding("import", module, "", "", line, True))
            return
        for part in name.named_children:
            key = part.child_by_field_name("key") or part
            local = part.child_by_field_name("value") or part
            scope.bind(text(local), Binding("import", module, "", text(key), line, True))
