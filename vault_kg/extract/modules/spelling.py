"""The name by which a module goes wherever it is named from."""

from __future__ import annotations

import posixpath


def absolute(module: str, source: str) -> str:
    """Return a module's name without what depends on the file that names it.

    `..util` in `pkg/sub/a.py` is `pkg.util`, `./util` in `src/a.ts` is `src/util`, and `.`, a file's
    own package, is its folder. A name that leads out of the tree, or does not depend on the file,
    is returned as it is.
    """
    if not module.startswith("."):
        return module
    folder = posixpath.dirname(source)
    if module.startswith(("./", "../")):
        joined = posixpath.normpath(posixpath.join(folder, module))
        return module if joined.startswith("..") else joined
    name = module.lstrip(".")
    parts = folder.split("/") if folder else []
    up = len(module) - len(name) - 1
    if up > len(parts):
        return module
    kept = parts[: len(parts) - up]
    return ".".join([*kept, name] if name else kept) or module
