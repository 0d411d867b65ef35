"""`call` and `operations`: the registry itself, for scripts."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from vault_kg.cli import context
from vault_kg.cli.context import Settings

if TYPE_CHECKING:
    from vault_kg.operations.caller import Caller
    from vault_kg.operations.registry import Operation


@click.command()
@click.argument("name")
@click.option(
    "--json",
    "arguments",
    metavar="JSON",
    default="{}",
    help="The arguments; - reads standard input.",
)
@context.everywhere
@click.pass_obj
def call(settings: Settings, name: str, arguments: str) -> None:
    """Run any operation with JSON arguments.

    Prints the result as one JSON document and exits with 0, or with 1 where it says of itself
    "success": false. A refusal prints {"error": {"code", "message", "data"}} and exits with 1, an
    unavailable vault with 3, wrong usage with 2.
    """
    given = read_object(_standard_input() if arguments == "-" else arguments)
    settings.json = True
    from vault_kg.cli import receipts, render
    from vault_kg.operations import registry

    with context.session(settings) as session, _reporting(session.caller) as caller:
        done = registry.call(session.workspace, name, given, caller)
    render.print_json(done)
    receipts.stop_unless(done.get("success") is not False)


@context.command
@click.argument("name", required=False)
def operations(settings: Settings, name: str | None) -> None:
    """List the operations, or describe one."""
    from vault_kg.cli import render
    from vault_kg.errors import NotFound
    from vault_kg.operations import registry

    known = registry.operations()
    if name is not None and name not in known:
        raise NotFound(f"there is no operation {name!r}", candidates=sorted(known))
    chosen = [known[name]] if name else list(known.values())
    if settings.json:
        described = [_described(operation) for operation in chosen]
        render.print_json(described[0] if name else {"operations": described})
        return
    if name:
        _print_one(chosen[0])
        return
    rows = [[o.name, o.scope, o.description.split(". ")[0].rstrip(".")] for o in chosen]
    render.echo_lines(render.table(rows, flexible=2))


def read_object(text: str) -> dict[str, Any]:
    """Read a JSON object strictly: no duplicate keys, no NaN, no endless nesting.

    Raises:
        click.BadParameter: it is not one; says where.
    """
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise _wrong(f"{error.msg} (line {error.lineno}, column {error.colno})") from None
    except RecursionError:
        raise _wrong("it is nested too deeply") from None
    except ValueError as error:
        raise _wrong(str(error)) from None
    if not isinstance(value, dict):
        raise _wrong('the arguments must be an object, like {"id": "pg_…"}')
    return value


@contextmanager
def _reporting(caller: Caller) -> Iterator[Caller]:
    """Tell the progress of something long on a terminal; elsewhere nothing but the result is told."""
    from vault_kg.cli import progress

    if not sys.stderr.isatty():
        yield caller
        return
    with progress.stages() as advance:
        yield replace(caller, report=lambda done, total, what: advance(what, done, total))


def _wrong(problem: str) -> click.BadParameter:
    return click.BadParameter(f"not the JSON of a request: {problem}", param_hint="--json")


def _standard_input() -> str:
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _wrong(f"standard input is not UTF-8 (byte {error.start})") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        twice = next(key for key, _ in pairs if sum(key == other for other, _ in pairs) > 1)
        raise ValueError(f"the key {twice!r} is there twice")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


def _described(operation: Operation) -> dict[str, Any]:
    return {
        "name": operation.name,
        "scope": operation.scope,
        "toolset": operation.toolset,
        "description": operation.description,
        "request": operation.request.model_json_schema(by_alias=True),
        "result": operation.answer_schema(),
    }


def _print_one(operation: Operation) -> None:
    from vault_kg.cli import render

    click.echo(f"{render.heading(operation.name)}  ({operation.scope})\n")
    click.echo(render.wrapped(operation.description))
    click.echo(f"\n{render.heading('Arguments')}")
    schema = operation.request.model_json_schema(by_alias=True)
    needed = set(schema.get("required", ()))
    for name, rule in schema.get("properties", {}).items():
        mark = " (required)" if name in needed else ""
        click.echo(f"  {name}{render.dim(mark)}")
        if "description" in rule:
            click.echo(render.wrapped(rule["description"], "      "))
    click.echo(f"\nvault-kg call {operation.name} --json '{{…}}'")
