"""The text from which a person makes the merged file: both changes, marked where they meet."""

from __future__ import annotations

from difflib import SequenceMatcher

MARKS = ("<<<<<<<", ">>>>>>>")


def both(original: str | None, proposed: str | None, displaced: str | None) -> str:
    """Return what both versions agree on, with marks around what differs between them."""
    mine = (proposed or "").splitlines(keepends=True)
    theirs = (displaced or "").splitlines(keepends=True)
    base = (original or "").splitlines(keepends=True)
    parts: list[str] = []
    matcher = SequenceMatcher(None, mine, theirs, autojunk=False)
    for tag, i, i_end, j, j_end in matcher.get_opcodes():
        one, other = "".join(mine[i:i_end]), "".join(theirs[j:j_end])
        if tag == "equal" or _within(base, other):
            parts.append(one)
        elif _within(base, one):
            parts.append(other)
        else:
            parts.append(_marked(one, other))
    return "".join(parts)


def _within(base: list[str], text: str) -> bool:
    """Say whether lines stand in the original as they are, so that the other side changed them."""
    lines = text.splitlines(keepends=True)
    return bool(lines) and any(
        base[n : n + len(lines)] == lines for n in range(len(base) - len(lines) + 1)
    )


def _marked(one: str, other: str) -> str:
    return f"<<<<<<< proposed\n{_ended(one)}=======\n{_ended(other)}>>>>>>> on disk\n"


def _ended(text: str) -> str:
    return text if not text or text.endswith("\n") else f"{text}\n"
