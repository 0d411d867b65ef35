"""What a Cypher query may say: one statement, which reads this graph and nothing else.

The engine opens the graph read-only, but would still copy an answer into any file, read any file,
and fetch extensions. So a query has to begin with a clause that reads, and no word that could do
more may stand in it outside a string, a comment or a quoted name. Where the engine might read a
text otherwise than this module does, the text is refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from vault_kg.errors import InvalidArgument

WRITE_WITH = (
    "Cypher only reads here. Change the graph with knowledge_assert_entity, "
    "knowledge_assert_relationship, knowledge_merge_entities, knowledge_correct or "
    "knowledge_withdraw"
)
TABLE_FUNCTIONS = frozenset({"show_tables", "table_info"})
"""What CALL may name: what the graph is made of, never the engine or a file."""

_BEGINS = frozenset({"match", "optional", "unwind", "with", "return", "call"})
_WRITES = frozenset({"create", "merge", "set", "delete", "detach", "remove", "drop", "alter"})
_REACHES_OUT = frozenset(
    "load copy export import attach install uninstall use begin commit rollback checkpoint "
    "explain profile project_graph project_graph_cypher drop_projected_graph".split()
)
_NAMES = re.compile(r"[.:]\s*$")
"""What stands before the name of a property or label, which may be any word."""

_TOKEN = re.compile(
    r"""(?P<string>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
      | (?P<quoted>(?:`[^`]*`)+)
      | (?P<comment>/\*.*?\*/|//[^\r\n]*)
      | \$(?P<parameter>[^\W\d]\w*|\d+)
      | (?P<word>[^\W\d]\w*)
      | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_QUOTES = frozenset("'\"`")


def checked(query: str, parameters: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return a query that only reads, as the engine is given it, with its parameters.

    Comments are left out, and an empty list is written out: the engine knows no type for it.

    Args:
        query: what the caller says.
        parameters: the values of its `$names`.

    Raises:
        InvalidArgument: it would do more than read, or its parameters are not those given.
    """
    tokens = list(_TOKEN.finditer(query))
    _check_words(query, tokens)
    _check_parameters({t["parameter"] for t in tokens if t["parameter"]}, parameters)
    empty = {name for name, value in parameters.items() if value == []}
    written = (" " if t["comment"] else "[]" if t["parameter"] in empty else t[0] for t in tokens)
    kept = {name: value for name, value in parameters.items() if name not in empty}
    return "".join(written).strip().removesuffix(";"), kept


def _check_words(query: str, tokens: list[re.Match[str]]) -> None:
    code = [t for t in tokens if not t["comment"] and not t[0].isspace()]
    if code and code[-1][0] == ";":
        code.pop()
    if not code:
        raise InvalidArgument("the query is empty", field="query")
    for token in code:
        if token["other"] in _QUOTES:
            raise InvalidArgument(
                f"a quote at character {token.start() + 1} is not closed", field="query"
            )
        if token[0] == ";":
            raise InvalidArgument("give one statement; there is more after the ;", field="query")
        _check_word(query, token)
    first = (code[0]["word"] or "").lower()
    if first not in _BEGINS:
        raise InvalidArgument(
            "a query begins with MATCH, OPTIONAL MATCH, WITH, UNWIND, RETURN or CALL, not "
            f"{code[0][0]!r}. {WRITE_WITH}",
            field="query",
        )
    for at, token in enumerate(code):
        if (token["word"] or "").lower() == "call":
            _check_call(code[at + 1 : at + 3])


def _check_word(query: str, token: re.Match[str]) -> None:
    word = (token["word"] or "").lower()
    if word in _REACHES_OUT:
        raise InvalidArgument(
            f"{word.upper()} at character {token.start() + 1} reaches beyond the graph, which a "
            "query may not; as a name, quote it with backticks",
            field="query",
        )
    if word in _WRITES and not _NAMES.search(query, 0, token.start()):
        raise InvalidArgument(
            f"{word.upper()} at character {token.start() + 1} would write. {WRITE_WITH}. As a name, "
            "quote it with backticks",
            field="query",
        )


def _check_call(following: list[re.Match[str]]) -> None:
    named = (following[0]["word"] or "").lower() if following else ""
    if named not in TABLE_FUNCTIONS or [t[0] for t in following[1:]] != ["("]:
        raise InvalidArgument(
            f"CALL may only name {' or '.join(sorted(TABLE_FUNCTIONS))}", field="query"
        )


def _check_parameters(named: set[str], given: Mapping[str, Any]) -> None:
    missing, unused = sorted(named - given.keys()), sorted(given.keys() - named)
    if missing or unused:
        said = [f"no value for ${name}" for name in missing]
        said += [f"${name} is not in the query" for name in unused]
        raise InvalidArgument("; ".join(said[:5]), field="parameters")
