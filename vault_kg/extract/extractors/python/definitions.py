"""What a Python file defines: its symbols as nodes, one for each qualified name."""

from __future__ import annotations

import ast
from typing import Final

from vault_kg.extract.extractors.nodes import first_paragraph
from vault_kg.extract.extractors.python.source import Lines
from vault_kg.extract.extractors.scoping.file import Definitions
from vault_kg.extract.model import Node, NodeKind

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class PythonSymbols:
    """Makes the nodes of a file's functions, classes and variables."""

    def __init__(self, definitions: Definitions, lines: Lines) -> None:
        self.path = definitions.path
        self._definitions = definitions
        self._lines = lines

    def add(
        self, kind: NodeKind, qualified: str, node: Definition, parent: str, roles: tuple[str, ...]
    ) -> str:
        """Add a function or class, and return its uid."""
        uid = self._definitions.uid(kind, qualified)
        start = min([node.lineno, *(d.lineno for d in node.decorator_list)])
        self._definitions.add(
            Node(
                uid,
                kind,
                node.name,
                self.path,
                start,
                node.end_lineno,
                self._lines.header(node.lineno, _body_line(node)),
                summary(node),
                roles,
            ),
            qualified,
            parent,
        )
        return uid

    def add_variable(self, qualified: str, name: str, node: ast.stmt, parent: str) -> None:
        """Add a variable of the module or of a class, unless its name is known."""
        if qualified in self._definitions.kinds or (name.startswith("__") and name.endswith("__")):
            return
        uid = self._definitions.uid("variable", qualified)
        header = self._lines.header(node.lineno, node.lineno + 1, 120)
        self._definitions.add(
            Node(uid, "variable", name, self.path, node.lineno, node.end_lineno, header),
            qualified,
            parent,
        )


def summary(node: Definition | ast.Module) -> str:
    """Return the first paragraph of a docstring, "" without one."""
    first = node.body[0] if node.body else None
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        text = first.value.value
        return first_paragraph(text) if isinstance(text, str) else ""
    return ""


def _body_line(node: Definition) -> int:
    first: Final = node.body[0]
    decorators = getattr(first, "decorator_list", None)
    line = min([first.lineno, *(d.lineno for d in decorators)]) if decorators else first.lineno
    return max(line, node.lineno + 1)
