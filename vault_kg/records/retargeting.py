"""Giving links of a text another target: only where reading it again shows that nothing else changed.

What is code, HTML or a comment is found to be no link, and stays; so does a target that is written
with escapes.

Which occurrences of a target are links is read off, not guessed: each is marked with its number,
and the marked text is read once. Where the marks themselves change what is a link, as in the
protocol of an address or the label of a definition, the marked ones are halved.
"""

from __future__ import annotations

import re
from typing import Final

from vault_kg.records.links import Link, References, extract_links, extract_references

MAX_READINGS: Final = 32
"""How often a text is read to find the places; where more were needed, it is left as it is."""

_PRIVATE_USE: Final = range(0xE000, 0xF900)


def retargeted(body: str, old: str, new: str) -> str | None:
    """Return a Markdown body in which links lead to another target, or None where one is left.

    The body is read a few times, and at most `MAX_READINGS` times and twice, however long it is.

    Args:
        body: the text, front matter taken off.
        old: the target of the links, as `extract_links` tells it.
        new: what they shall say; heading, block and the text that is shown stay.
    """
    before = extract_references(body)
    wanted = [one._replace(target=new) if one.target == old else one for one in before.links]
    if wanted == before.links:
        return body
    places = _places(body, before.links, old)
    if places is None:
        return None
    changed = _spliced(body, {at: (len(old), new) for at in places})
    return changed if extract_references(changed) == References(wanted, before.tags) else None


def _places(body: str, links: list[Link], old: str) -> list[int] | None:
    """Return where the links with a target spell it, or None where not all of them were found."""
    mark = next((chr(code) for code in _PRIVATE_USE if chr(code) not in body), None)
    if mark is None or mark in old:
        return None
    left = sum(link.target == old for link in links)
    groups, found = [_candidates(body, old)], list[int]()
    for _ in range(MAX_READINGS):
        if len(found) == left or not groups:
            break
        group = groups.pop()
        targets = _marked_targets(body, links, old, group, mark)
        if targets is not None:
            found += [
                at for number, at in enumerate(group) if _marked(old, number, mark) in targets
            ]
        elif len(group) > 1:
            groups += [group[len(group) // 2 :], group[: len(group) // 2]]
    return sorted(found) if len(found) == left else None


def _candidates(body: str, old: str) -> list[int]:
    """Return where a target stands as that of a link may, in code and comments too."""
    spelled = rf"(?:\[\[|\]\(|\]:)[\s>]*+(?:<\s*+)?({re.escape(old)})(?=[\s\]#|\\)>]|\Z)"
    return [match.start(1) for match in re.finditer(spelled, body)]


def _marked_targets(
    body: str, links: list[Link], old: str, group: list[int], mark: str
) -> set[str] | None:
    """Return the targets of a body with marks, or None where the marks make other links of it."""
    marks = {at: (len(old), _marked(old, number, mark)) for number, at in enumerate(group)}
    read = extract_links(_spliced(body, marks))
    return {link.target for link in read} if _unmarked(read, mark) == links else None


def _unmarked(links: list[Link], mark: str) -> list[Link]:
    number = re.compile(f"{mark}[0-9]+{mark}")

    def bare(part: str | None) -> str | None:
        return number.sub("", part) if part else part

    return [
        one._replace(
            target=number.sub("", one.target),
            heading=bare(one.heading),
            block=bare(one.block),
            alias=bare(one.alias),
        )
        for one in links
    ]


def _marked(old: str, number: int, mark: str) -> str:
    return f"{old}{mark}{number}{mark}"


def _spliced(body: str, given: dict[int, tuple[int, str]]) -> str:
    """Return a body with others in the place of stretches, given in order by start and length."""
    parts, end = list[str](), 0
    for at, (length, text) in given.items():
        parts += [body[end:at], text]
        end = at + length
    return "".join((*parts, body[end:]))
