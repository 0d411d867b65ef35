"""Giving links of a text another target: only where reading it again shows that nothing else changed.

What is code, HTML or a comment is found to be no link, and stays; so does a target that is written
with escapes.
"""

from __future__ import annotations

from collections.abc import Iterator

from vault_kg.records.links import Link, extract_links


def retargeted(body: str, old: str, new: str) -> str | None:
    """Return a Markdown body in which links lead to another target, or None where one is left.

    Args:
        body: the text, front matter taken off.
        old: the target of the links, as `extract_links` tells it.
        new: what they shall say; heading, block and the text that is shown stay.
    """
    links = extract_links(body)
    while any(link.target == old for link in links):
        changed = _one(body, links, old, new)
        if changed is None:
            return None
        body, links = changed
    return body


def _one(body: str, links: list[Link], old: str, new: str) -> tuple[str, list[Link]] | None:
    """Change the first link with the target."""
    number = next(n for n, link in enumerate(links) if link.target == old)
    wanted = [*links[:number], links[number]._replace(target=new), *links[number + 1 :]]
    for at in _occurrences(body, old):
        changed = f"{body[:at]}{new}{body[at + len(old) :]}"
        found = extract_links(changed)
        if found == wanted:
            return changed, found
    return None


def _occurrences(body: str, text: str) -> Iterator[int]:
    at = body.find(text)
    while at >= 0:
        yield at
        at = body.find(text, at + 1)
