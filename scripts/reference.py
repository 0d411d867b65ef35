#!/usr/bin/env python3
"""Write the generated pages of docs/reference: operations, commands and errors.

They are made from the registry, the command line and the error classes, and a test holds them equal
to what this writes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from vault_kg import errors
from vault_kg.cli.application import COMMANDS, cli
from vault_kg.operations.registry import Operation, operations

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "reference"
MADE = "<!-- Made by `make docs`; edit the source instead. -->\n"


def main() -> int:
    """Write the pages, or with --check say which are not up to date."""
    check = "--check" in sys.argv[1:]
    stale = []
    for name, text in pages().items():
        path = FOLDER / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(name)
            if not check:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
    if check and stale:
        print(f"not up to date: {', '.join(stale)}; run `make docs`")
    return int(check and bool(stale))


def pages() -> dict[str, str]:
    """Return the text of each generated page by its file name."""
    return {
        "operations.md": operations_page(),
        "commands.md": commands_page(),
        "errors.md": errors_page(),
    }


def operations_page() -> str:
    """Return the page of operations."""
    parts = [
        MADE,
        "# Operations\n",
        "What a caller can ask, in every face: `vault-kg call NAME --json '{…}'`, an MCP tool of the same "
        "name. A key in **bold** is required. Keys are accepted in camelCase and snake_case; an unknown "
        "key is refused.\n",
        "| operation | scope | |\n| --- | --- | --- |",
    ]
    every = operations()
    parts += [
        f"| [`{o.name}`](#{o.name}) | {o.scope} | {first(o.description)} |" for o in every.values()
    ]
    parts += [_operation(o) for o in every.values()]
    return "\n".join(parts) + "\n"


def _operation(found: Operation) -> str:
    lines = [f"\n## {found.name}\n", f"{found.description}\n", f"Scope `{found.scope}`.\n"]
    schema = found.request.model_json_schema(by_alias=True)
    properties = schema.get("properties", {})
    if properties:
        lines += ["| argument | type | |", "| --- | --- | --- |"]
    required = schema.get("required", [])
    for name, rule in properties.items():
        shown = f"**{name}**" if name in required else name
        lines.append(f"| {shown} | {kind(rule, schema)} | {cell(rule.get('description', ''))} |")
    result = found.result.model_json_schema(by_alias=True, mode="serialization")
    names = ", ".join(f"`{name}`" for name in _results(result))
    lines.append(f"\nResult: {names}.")
    return "\n".join(lines)


def _results(schema: dict[str, Any]) -> Iterator[str]:
    """Yield the keys of a result, those of an envelope's data as `data.key`."""
    for name, rule in schema.get("properties", {}).items():
        if name == "data" and "$ref" in rule:
            inner = schema["$defs"][rule["$ref"].rpartition("/")[2]]
            yield from (f"data.{key}" for key in inner.get("properties", {}))
        else:
            yield name


def kind(rule: dict[str, Any], schema: dict[str, Any]) -> str:
    """Return a short word for the type in a JSON schema."""
    if "$ref" in rule:
        name = rule["$ref"].rpartition("/")[2]
        inner = schema["$defs"][name]
        if inner.get("type") == "object":
            return "{" + ", ".join(inner.get("properties", {})) + "}"
        return kind(inner, schema)
    if "enum" in rule:
        return " · ".join(f"`{value}`" for value in rule["enum"])
    if "const" in rule:
        return f"`{rule['const']}`"
    for key in ("anyOf", "oneOf"):
        if key in rule:
            options = [kind(r, schema) for r in rule[key] if r.get("type") != "null"]
            return " or ".join(dict.fromkeys(options))
    if rule.get("type") == "array":
        return f"list of {kind(rule.get('items', {}), schema)}"
    return str(rule.get("type", "any")) + _bounds(rule)


def _bounds(rule: dict[str, Any]) -> str:
    low, high = rule.get("minimum"), rule.get("maximum")
    if low is None and high is None:
        return ""
    return f" {low if low is not None else ''}–{high if high is not None else ''}"


def commands_page() -> str:
    """Return the page of commands."""
    parts = [
        MADE,
        "# Commands\n",
        "Exit codes: 0 done, 1 refused or not all done, 2 wrong usage, 3 the vault is unavailable. "
        "Every command takes `--json`. Progress and notices go to standard error.\n",
    ]
    root = click.Context(cli, info_name="vault-kg")
    for name in COMMANDS:
        command = cli.get_command(root, name)
        assert command is not None
        parts.append(_command(command, click.Context(command, root, name)))
    return "\n".join(parts) + "\n"


def _command(command: click.Command, context: click.Context) -> str:
    text = command.get_help(context)
    body = "\n".join(line.rstrip() for line in text.splitlines())
    lines = [f"## {context.command_path}\n\n```text\n{body}\n```"]
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            if inner is not None:
                lines.append(_command(inner, click.Context(inner, context, name)))
    return "\n".join(lines)


def errors_page() -> str:
    """Return the page of errors."""
    lines = [
        MADE,
        "# Errors\n",
        "A refusal is `{code, message, data}`: the message says what was wrong, where, and what to do "
        "next; `data` carries the same for a program.\n",
        "| code | raised when |",
        "| --- | --- |",
    ]
    classes = sorted(errors.VaultError.__subclasses__(), key=lambda c: c.code)
    lines += [f"| `{c.code}` | {cell(' '.join((c.__doc__ or '').split()))} |" for c in classes]
    return "\n".join(lines) + "\n"


def first(text: str) -> str:
    """Return the first sentence of a text."""
    return cell(text.partition(". ")[0].rstrip(".") + ".")


def cell(text: str) -> str:
    """Return a text that can stand in a table."""
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    sys.exit(main())
