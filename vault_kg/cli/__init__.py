"""The command line: the operations of the registry for people and scripts.

It owns how arguments are read, what is printed and which exit code is given. It holds no rule of
the product: whatever it does to a vault it asks of `operations`. Importing it must stay cheap, so
that `vault-kg --help` answers at once: commands are imported when they are used.
"""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `vault-kg` and return its exit code.

    Args:
        arguments: the command line without the program's name; that of the process where None.

    Returns:
        0 for done, 1 for a refusal or what was not all done, 2 for wrong usage, 3 for a vault that
        cannot be served, 130 where it was interrupted.
    """
    if arguments is None:
        _insist_on_utf_8()
    from vault_kg.cli.application import run

    return run(arguments)


def _insist_on_utf_8() -> None:
    """Start anew in Python's UTF-8 mode where the locale would read file names otherwise."""
    import os
    import sys

    if sys.getfilesystemencoding().lower() != "utf-8":
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])
