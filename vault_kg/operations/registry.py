"""The one registry: every operation with its name, scope, request, result and handler.

The command line, MCP, the reference page and the contract tests are all made from it. `call` is the
only way to run an operation: it checks the scope, the arguments and the shape of the answer, and that what
is accepted can be kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from pydantic import ValidationError

from vault_kg.errors import InvalidArgument, NotFound, ScopeDenied
from vault_kg.operations import indexing
from vault_kg.operations.base import Model, Request
from vault_kg.operations.caller import Caller
from vault_kg.operations.workspace import Workspace

UNKNOWN_KEY = "unknown key"

Scope = Literal["read", "write", "review", "cypher", "admin"]

RequestT = TypeVar("RequestT", bound=Request)
Handler = Callable[[Workspace, Any, Caller], Model]


@dataclass(frozen=True)
class Operation:
    """One thing that a caller can ask."""

    name: str
    description: str
    scope: Scope
    toolset: str
    request: type[Request]
    result: type[Model]
    handler: Handler
    destructive: bool = False
    also: frozenset[str] = frozenset()
    """Further toolsets that it belongs to."""
    asks_model: bool = False
    """Whether most of its time it waits for a model, and writes only in the end."""
    on_reading: bool = False
    """Whether, though its scope is not one of reading, nothing that it keeps can be lost.

    It may be asked of a vault that is open for reading only.
    """

    def is_in(self, toolsets: frozenset[str]) -> bool:
        """Say whether it belongs to one of these toolsets."""
        return self.toolset in toolsets or not self.also.isdisjoint(toolsets)

    @property
    def read_only(self) -> bool:
        """Whether it changes nothing."""
        return self.scope in ("read", "cypher")

    def answer_schema(self) -> dict[str, Any]:
        """Return the JSON schema of its answer: the result, and what every read may say besides."""
        schema = self.result.model_json_schema(by_alias=True, mode="serialization")
        if self.read_only:
            schema["properties"][indexing.KEY] = indexing.Indexing.model_json_schema()
        return schema


_OPERATIONS: dict[str, Operation] = {}


def operation(
    scope: Scope,
    result: type[Model],
    *,
    toolset: str = "records",
    destructive: bool = False,
    also: tuple[str, ...] = (),
    asks_model: bool = False,
    on_reading: bool = False,
) -> Callable[[Callable[[Workspace, RequestT, Caller], Model]], Any]:
    """Register a handler; its name, docstring and request annotation are those of the operation."""

    def register(handler: Callable[[Workspace, RequestT, Caller], Model]) -> Any:
        import inspect
        import typing

        request = typing.get_type_hints(handler)["request"]
        name = handler.__name__
        description = " ".join((inspect.getdoc(handler) or "").split())
        _OPERATIONS[name] = Operation(
            name,
            description,
            scope,
            toolset,
            request,
            result,
            handler,
            destructive,
            frozenset(also),
            asks_model,
            on_reading,
        )
        return handler

    return register


def operations() -> dict[str, Operation]:
    """Return every operation by name, in the order of their names."""
    from vault_kg.operations import catalogue

    catalogue.load()
    return dict(sorted(_OPERATIONS.items()))


def find(name: str) -> Operation | None:
    """Return the operation of a name; only its family is imported."""
    from vault_kg.operations import catalogue

    catalogue.load_for(name)
    return _OPERATIONS.get(name)


def call(
    workspace: Workspace, name: str, arguments: Mapping[str, Any], caller: Caller
) -> dict[str, Any]:
    """Run an operation.

    Args:
        workspace: the opened vault.
        name: the operation's name.
        arguments: its arguments as decoded JSON.
        caller: who asks.

    Returns:
        The result as JSON values, in the wire spelling. That of a read says besides how far the
        vault's files are read, where they are not: `indexing`.

    Raises:
        WriteFailed: the vault is open for reading only, and the operation would change something.
        VaultError: another refusal, with its code.
    """
    found = find(name)
    if found is None:
        raise NotFound(
            f"there is no operation {name!r}; `vault-kg operations` lists them", name=name
        )
    if found.scope not in caller.scopes:
        raise ScopeDenied(
            f"{name} needs the scope {found.scope!r}; this caller holds "
            f"{', '.join(sorted(caller.scopes)) or 'none'}",
            scope=found.scope,
        )
    if caller.tools is not None and name not in caller.tools:
        raise ScopeDenied(
            f"{name} is not among the tools of this caller: {', '.join(sorted(caller.tools))}",
            tools=sorted(caller.tools),
        )
    request = read_arguments(found, arguments)
    if not (found.read_only or found.on_reading):
        workspace.vault.check_writable()
    workspace.database.check_present()
    unread = workspace.indexing  # asked first: the files that come meanwhile are not in the answer
    try:
        result = found.handler(workspace, request, caller)
    except NotFound as error:
        if unread is not None:
            indexing.tell_refusal(error, unread)
        raise
    answer = result.model_dump(mode="json", by_alias=True)
    if unread is not None and found.read_only:
        indexing.tell(answer, unread, found.result)
    return answer


def read_arguments(found: Operation, arguments: Mapping[str, Any]) -> Request:
    """Read an operation's arguments; every fault is named in one error.

    Raises:
        InvalidArgument: with `data.problems`, a list of `{field, problem}`.
    """
    if not isinstance(arguments, Mapping):
        raise InvalidArgument(f"{found.name}: the arguments must be an object of keys and values")
    try:
        return found.request.model_validate(dict(arguments))
    except ValidationError as error:
        problems = [
            {"field": ".".join(str(p) for p in e["loc"]) or "(request)", "problem": _said(e["msg"])}
            for e in error.errors(include_url=False, include_input=False, include_context=False)
        ]
    except (UnicodeError, RecursionError) as error:
        problems = [{"field": "(request)", "problem": f"cannot be read: {error}"}]
    problems.sort(key=lambda problem: problem["problem"] != UNKNOWN_KEY)
    text = "; ".join(f"{p['field']}: {p['problem']}" for p in problems[:5])
    raise InvalidArgument(f"{found.name}: {text}", operation=found.name, problems=problems[:50])


def _said(message: str) -> str:
    """Return what the validator says in our words; names in it keep their spelling."""
    if message == "Extra inputs are not permitted":
        return UNKNOWN_KEY
    text = message.removeprefix("Value error, ")
    return (text[:1].lower() + text[1:])[:300]
