"""How sure each kind of reason is, and how an edge's confidence comes from its reasons.

An edge is as sure as its weakest reason. The weights are those of the calibration guide (1.0 certain,
.7 to .9 strong, .4 to .6 weak, .1 to .3 possible) and are held to it by a labelled corpus
(`tests/extract/corpus`): of the edges that say .9, at least nine in ten must be right.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from vault_kg.extract.model import Signal

STATED: Final = Signal("stated", 1.0)
"""The file says it in so many words: an import, a containment, a link to a file that is there."""
SAME_FILE: Final = Signal("same_file", 1.0)
"""The name is bound once, in the same file, and the language's scoping leads to it."""
IMPORTED: Final = Signal("imported", 0.9)
"""An import names it, and exactly one symbol of the tree fits."""
OUTSIDE: Final = Signal("outside", 0.9)
"""An import names it, and its module is no part of the tree."""
OWN_METHOD: Final = Signal("own_method", 0.9)
"""Reached through `self`, `cls` or `this`, and defined by that class; a subclass may override it."""
CONSTRUCTED: Final = Signal("constructed", 0.9)
"""Reached through a variable or attribute to which an instance of a known class is assigned."""
SAME_PACKAGE: Final = Signal("same_package", 0.9)
"""Visible without an import, because it stands in the same package or module."""
ANNOTATED: Final = Signal("annotated", 0.8)
"""Reached through a variable, parameter or attribute that is declared to be of a known class."""
INHERITED: Final = Signal("inherited", 0.8)
"""Not defined by the class itself but by one of its bases."""
CONFIGURED: Final = Signal("configured", 0.8)
"""A configuration names it as an entry point, `module:name`."""
LINKED: Final = Signal("linked", 0.8)
"""The only function of the tree with this name, in a language whose linker joins all files."""
STAR_IMPORT: Final = Signal("star_import", 0.7)
"""Nothing but `from module import *` can have brought the name."""
RETURNED: Final = Signal("returned", 0.7)
"""Reached through what a function is declared, or seen, to return."""
REBOUND: Final = Signal("rebound", 0.6)
"""The name is bound more than once, and to something unknown among others."""
ONE_OF_SEVERAL: Final = Signal("one_of_several", 0.5)
"""One of two or three things that the name is bound to."""
DISPATCH_TABLE: Final = Signal("dispatch_table", 0.5)
"""A value of the table or list from which the callee is taken."""
STRING: Final = Signal("string", 0.5)
"""A string that spells the symbol's path."""
SAME_NAME: Final = Signal("same_name", 0.3)
"""The only method of the tree with this name; nothing says what the receiver is."""
UNRESOLVED: Final = Signal("unresolved", 0.2)
"""Named, but no symbol, or more than one, fits; the target is a stub."""


def confidence(signals: Sequence[Signal]) -> float:
    """Return how sure an edge is: the least weight of its signals, and 1 without any."""
    if len(signals) == 1:
        return signals[0].weight
    return min((signal.weight for signal in signals), default=1.0)
