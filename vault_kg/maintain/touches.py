"""Touches: which of them are paths, and which paths lead nowhere."""

from __future__ import annotations

import os
from pathlib import Path


def is_dangling(touch: str, root: str | None) -> bool:
    """Say whether a touch is a path (`path[:suffix]`) that leads nowhere.

    URLs, patterns and free text are none; a relative path is one of the project's root only.
    """
    path = _path_in(touch)
    if path is None:
        return False
    place = Path(path)
    if path.startswith("~"):
        place = Path(os.path.expanduser(path))  # noqa: PTH111 - leaves an unknown user as it is
    elif not place.is_absolute():
        if root is None:
            return False
        place = Path(root, path)
    try:
        return not any(_exists(p) for p in (place, place.with_name(place.name.split(":")[0])))
    except ValueError:
        return False


def _exists(place: Path) -> bool:
    try:
        return place.exists()
    except OSError:
        return True  # what cannot be looked at is not known to be gone


def _path_in(touch: str) -> str | None:
    text = touch.strip()
    if not text or "\0" in text or "://" in text or any(c in "*?[]{}<>|" for c in text):
        return None
    looks_like_path = "/" in text or text.startswith("~") or "." in text.strip(".")
    return text if looks_like_path and len(text.split()) == 1 else None
