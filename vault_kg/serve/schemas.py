"""The tools that an agent is offered, described in few characters.

A client puts `tools/list` into the model's context, so it has a budget. What the registry's JSON
schemas say at length is said briefly here: nested objects by a signature like `{source, lines?}`,
and what all tools share once, in `INSTRUCTIONS`. What is left of the budget is spent on further
words, in the order of their use to a model. Nothing is validated here; the registry does that.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from vault_kg.operations.registry import Operation

LIST_BUDGET = 14_900
"""Characters that the list of the default toolset may have as JSON; the promise is 15,000."""

INSTRUCTIONS = """\
A vault of knowledge: pages (things), claims (one statement about a page, with evidence) and \
relationships (between two pages, with evidence), as Markdown files with history.
- Look before writing: knowledge_search or knowledge_lookup for ids, knowledge_get for a record's \
revision and hash, knowledge_ontology for types and its fingerprint.
- Every change takes requestId: fresh for each new request; the same id with the same arguments is \
a safe retry. Changes of a record take the expectedRevision and expectedHash that you looked at; \
when refused as stale, look again and decide anew. What is left out stays, null clears. The answer \
is a receipt {operation, requestId, targetId, replacementId, revision, hash, path, git {state, \
commit}, impact {items, total}, …}.
- Evidence [{source, lines, quote, attribution}] cites retained sources: knowledge_attach_file \
gives the source id; lines are like "3-7", and a quote occurs there verbatim. A wrong claim is \
replaced with knowledge_correct, not edited. Withdraw and merge only what a person or a source \
confirms.
- Lists carry count, total and nextCursor; send it as cursor, with the same arguments, to go on. \
asOf takes one of revision, commit (Git) and time. expectedVaultId is taken by every change.
- indexing {done, total} in an answer: the files have not all been read yet, and what is missing \
may still come.
- An error has code, message and data; the message says what to do next."""

_SHORT_RESULT = 200
"""Characters up to which the keys of a result are said before further words about reads."""

_CLAUSE = re.compile(r"[:;] ")

_SHARED = frozenset({"requestId", "id", "expectedRevision", "expectedHash"})
"""Described in the instructions, not in each tool."""

_UNLISTED = frozenset({"expectedVaultId", "expected_vault_id"})
"""Accepted by every change and named in the instructions only."""


@dataclass(frozen=True)
class _More:
    """Something more to say where the budget allows."""

    rank: float
    place: dict[str, Any]
    key: str
    value: Any

    @property
    def cost(self) -> int:
        """Characters that saying it adds, about."""
        said = self.place.get(self.key)
        added = len(compact(self.value)) - (len(compact(said)) if said is not None else 0)
        return added if said is not None else added + len(self.key) + 4

    def say(self) -> None:
        self.place[self.key] = self.value


def describe(operations: Iterable[Operation], budget: int = LIST_BUDGET) -> list[dict[str, Any]]:
    """Return the tools as `tools/list` gives them, saying as much as the budget allows.

    Args:
        operations: what is offered.
        budget: the most characters that the list may have as JSON.
    """
    offered = list(operations)
    tools = [_tool(operation) for operation in offered]
    left = budget - len(compact({"tools": tools}))
    more = [m for op, tool in zip(offered, tools, strict=True) for m in _more(op, tool)]
    for addition in sorted(more, key=lambda m: (m.rank, m.cost)):
        if addition.cost <= left:
            left -= addition.cost
            addition.say()
    return tools


def compact(value: Any) -> str:
    """Return JSON without spaces."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _tool(operation: Operation) -> dict[str, Any]:
    return {
        "name": operation.name,
        "description": _sayings(operation.description)[0],
        "inputSchema": _input(operation),
        "outputSchema": {"type": "object"},
        "annotations": _annotations(operation),
    }


def _sayings(description: str) -> list[str]:
    """Return a description in growing lengths: a first clause, a first sentence, two, and so on."""
    sentences = description.rstrip(".").split(". ")
    said = [". ".join(sentences[:count]) + "." for count in range(1, len(sentences) + 1)]
    clause = _CLAUSE.split(sentences[0], maxsplit=1)[0] + "."
    return [clause, *said] if len(clause) < len(said[0]) else said


def _annotations(operation: Operation) -> dict[str, bool]:
    if operation.read_only:
        return {"readOnlyHint": True}
    return {"destructiveHint": operation.destructive, "idempotentHint": True}


def _more(operation: Operation, tool: dict[str, Any]) -> Iterator[_More]:
    """Yield what else could be said of a tool, ranked by its use to a model.

    What must be sent comes first, then what a change means, the whole first sentence of a read,
    what may be sent, the keys of short results, what else a read means, and the longer results.
    The default toolset has room for none of the results; a list of reads for all of them.
    """
    schema = operation.request.model_json_schema(by_alias=True)
    listed = tool["inputSchema"]["properties"]
    for name, rule in schema.get("properties", {}).items():
        said = rule.get("description")
        if said and name in listed and name not in _SHARED:
            before = listed[name].get("description")
            rank = 0.0 if name in schema.get("required", ()) else 2.0
            yield _More(rank, listed[name], "description", f"{before}: {said}" if before else said)
    for place, said in enumerate(_sayings(operation.description)[1:]):
        rank = (3.0 if operation.read_only else 1.0) + place / 100
        rank = 1.5 if operation.read_only and ". " not in said else rank
        yield _More(rank, tool, "description", said)
    yield from _more_of_result(operation, tool["outputSchema"])


def _more_of_result(operation: Operation, said: dict[str, Any]) -> Iterator[_More]:
    """Yield the keys of a result with their types, and which of them are always there."""
    result = operation.result.model_json_schema(by_alias=True, mode="serialization")
    kinds = {
        name: _types(rule, result.get("$defs", {})) for name, rule in result["properties"].items()
    }
    keys = _More(4.0, said, "properties", kinds)
    yield replace(keys, rank=2.5) if keys.cost <= _SHORT_RESULT else keys
    if result.get("required"):
        yield _More(4.1, said, "required", result["required"])


def _input(operation: Operation) -> dict[str, Any]:
    schema = operation.request.model_json_schema(by_alias=True)
    rules = schema.get("properties", {})
    needed = schema.get("required", [])
    clears = "id" in rules and "id" not in needed  # creates or changes: a null clears what stands
    properties = {
        name: _property(rule, schema.get("$defs", {}), clears and name not in _SHARED)
        for name, rule in rules.items()
        if name not in _UNLISTED
    }
    lean: dict[str, Any] = {"type": "object", "properties": properties}
    if needed:
        lean["required"] = needed
    return lean


def _property(
    rule: Mapping[str, Any], definitions: Mapping[str, Any], clears: bool
) -> dict[str, Any]:
    plain = _plain(rule, definitions)
    if "enum" in plain:
        return {"enum": plain["enum"]}
    lean = {"type": plain.get("type", "object")}
    if "properties" in plain:
        lean["description"] = _signature(plain)
    if lean["type"] == "array":
        item = _plain(plain.get("items", {}), definitions)
        lean["items"] = {"type": item.get("type", "object")}
        if "properties" in item:
            lean["description"] = _signature(item)
    if clears and any(r.get("type") == "null" for r in rule.get("anyOf", ())):
        lean["type"] = [lean["type"], "null"]
    return lean


_JSON_TYPES = {str: "string", bool: "boolean", int: "integer", float: "number"}


def _types(rule: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a result's key is as a schema: its type, two where it may be null, or anything."""
    plain = _plain(rule, definitions)
    kinds = [plain["type"]] if "type" in plain else []
    kinds = kinds or sorted({_JSON_TYPES[type(value)] for value in plain.get("enum", ())})
    if kinds and any(r.get("type") == "null" for r in rule.get("anyOf", ())):
        kinds.append("null")
    return {"type": kinds[0] if len(kinds) == 1 else kinds} if kinds else {}


def _plain(rule: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    """Return a rule with references resolved, and without its alternative null."""
    if "$ref" in rule:
        return _plain(definitions[rule["$ref"].rpartition("/")[2]], definitions)
    alternatives = [r for r in rule.get("anyOf", ()) if r.get("type") != "null"]
    if len(alternatives) == 1:
        return _plain(alternatives[0], definitions)
    if "const" in rule:
        return {"enum": [rule["const"]]}
    return dict(rule)


def _signature(rule: Mapping[str, Any]) -> str:
    """Return an object's keys as `{source, lines?}`."""
    needed = set(rule.get("required", ()))
    keys = (key if key in needed else f"{key}?" for key in rule["properties"])
    return "{" + ", ".join(keys) + "}"
