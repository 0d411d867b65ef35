"""Edge kinds by what they say of a change: one list, which every tool goes by."""

from __future__ import annotations

from typing import Final

BEHAVIOURAL: Final = frozenset(
    {
        "calls", "constructs", "imports", "inherits", "implements", "references", "decorated_by",
        "has_type", "returns_type", "reads", "dispatches",
    }
)  # fmt: skip
"""The source may stop working when the target changes."""

STRUCTURAL: Final = frozenset({"contains", "tested_by"})
"""Where something stands, or what covers it: never a reason to break."""

RECORDS: Final = frozenset(
    {"belongs_to", "tests", "derives_from", "mentions", "violates", "touches"}
)
"""What records say of one another and of the tree; `implements` is also said of classes."""

EXECUTED: Final = frozenset({"calls", "constructs", "dispatches"})
"""What is run when the source is run."""

SYMBOLS: Final = frozenset({"function", "method", "class", "interface"})
"""Node kinds that are defined in code, and may be dead or untested."""

STRONG, WEAK = 0.7, 0.4
"""From where on an edge is strong, and from where on it is more than a possibility."""
