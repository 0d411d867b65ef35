"""Which words of web frameworks make a function the handler of a route, in any language."""

from __future__ import annotations

from typing import Final

_METHODS: Final = {
    **{word: word.upper() for word in "get post put delete patch head options".split()},
    **{f"{word}mapping": word.upper() for word in "get post put delete patch".split()},
    **dict.fromkeys(["route", "all", "requestmapping", "handlefunc", "handle", "path"], "ANY"),
}


def http_role(word: str, route: str | None) -> tuple[tuple[str, ...], dict[str, str]] | None:
    """Return the roles and the detail of a handler, None if the words do not make it one.

    Args:
        word: the last name of the decorator, annotation or call (`Get`, `PostMapping`, `HandleFunc`).
        route: its first argument, if that is a text.
    """
    method = _METHODS.get(word.lower())
    if method is None or route is None:
        return None
    if not route.startswith("/") and not word[:1].isupper():
        return None
    return ("entry:http", "contract:http"), {"route": f"{method} {route or '/'}"}
