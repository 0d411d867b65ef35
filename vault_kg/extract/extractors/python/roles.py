"""What decorators and names say about a function: a test, an entry point, a contract.

Frameworks are told by the words that they share (`.get("/x")`, `.command()`, `.tool()`), since a
file alone does not say what `app` is.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final, NamedTuple

from vault_kg.extract.extractors.nodes import is_test_path
from vault_kg.extract.extractors.python.paths import path_of

_HTTP: Final = frozenset("get post put delete patch head options route websocket api_route".split())
_MCP: Final = {"tool": "mcp_tool", "resource": "mcp_resource", "prompt": "mcp_prompt"}
_SCHEDULED: Final = frozenset("scheduled_job periodic_task cron scheduled every".split())
_EVENTS: Final = frozenset(
    "receiver on on_event subscribe listens_for listener event_handler consumer".split()
)
_PLAIN: Final = {
    "property": "property",
    "cached_property": "property",
    "setter": "property",
    "deleter": "property",
    "staticmethod": "static",
    "classmethod": "classmethod",
    "abstractmethod": "abstract",
    "overload": "overload",
    "fixture": "fixture",
    "task": "entry:task",
    "shared_task": "entry:task",
}


class Roles(NamedTuple):
    """A function's roles, the details that they ask for, and whether it makes a context manager."""

    names: tuple[str, ...]
    detail: dict[str, str]
    is_manager: bool


_NONE: Final = Roles((), {}, is_manager=False)


def roles_of(node: ast.FunctionDef | ast.AsyncFunctionDef, path: str) -> Roles:
    """Return the roles of a function of a file."""
    is_test = node.name.startswith("test") and is_test_path(path)
    if not node.decorator_list and not is_test and node.name != "main":
        return _NONE
    names = ["test"] if is_test else []
    if node.name == "main":
        names.append("entry:main")
    detail: dict[str, str] = {}
    manager = False
    for decorator in node.decorator_list:
        called = isinstance(decorator, ast.Call)
        found = path_of(decorator.func if isinstance(decorator, ast.Call) else decorator)
        if found is None:
            continue
        root, rest = found
        word = (root + rest).rpartition(".")[2]
        manager |= word in ("contextmanager", "asynccontextmanager")
        if word in _PLAIN:
            names.append(_PLAIN[word])
        call = decorator if isinstance(decorator, ast.Call) else None
        for role, key, value in _framework(word, call, node.name, dotted="." in rest or called):
            names.append(role)
            detail[key] = value
    return Roles(tuple(dict.fromkeys(names)), detail, manager)


def _framework(
    word: str, call: ast.Call | None, function: str, *, dotted: bool
) -> Iterator[tuple[str, str, str]]:
    """Give the roles that a decorator stands for, each with a detail's key and value."""
    text = _first_text(call)
    if word in _HTTP and text is not None and (text.startswith("/") or not text):
        methods = _methods(call) if word in ("route", "api_route") else word.upper()
        yield "entry:http", "route", f"{methods} {text}"
        yield "contract:http", "route", f"{methods} {text}"
    elif word in ("command", "group") and dotted:
        yield "entry:cli", "command", text or function.replace("_", "-")
    elif word in _MCP and dotted:
        name = _keyword_text(call, "name") or (text if word != "tool" or _is_word(text) else None)
        yield f"contract:{_MCP[word]}", word, name or function
    elif word in _SCHEDULED and dotted:
        yield "entry:cron", "schedule", text or function
    elif word in _EVENTS and dotted:
        yield "contract:event", "event", text or _first_name(call) or function


def _first_text(call: ast.Call | None) -> str | None:
    if call is not None and call.args:
        value = getattr(call.args[0], "value", None)
        if isinstance(call.args[0], ast.Constant) and isinstance(value, str):
            return value
    return _keyword_text(call, "path") if call is not None else None


def _first_name(call: ast.Call | None) -> str | None:
    found = path_of(call.args[0]) if call is not None and call.args else None
    return found and found[0] + found[1]


def _keyword_text(call: ast.Call | None, name: str) -> str | None:
    for keyword in call.keywords if call is not None else ():
        value = keyword.value
        if keyword.arg == name and isinstance(value, ast.Constant) and isinstance(value.value, str):
            return value.value
    return None


def _methods(call: ast.Call | None) -> str:
    for keyword in call.keywords if call is not None else ():
        if keyword.arg == "methods" and isinstance(keyword.value, ast.List | ast.Tuple):
            texts = [getattr(element, "value", "") for element in keyword.value.elts]
            return "|".join(str(text) for text in texts if text) or "GET"
    return "GET"


def _is_word(text: str | None) -> bool:
    return text is not None and text.replace("_", "").replace("-", "").isalnum()
