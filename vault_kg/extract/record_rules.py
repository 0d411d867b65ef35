"""Which structured fields of pages become which of the reserved edges, each rule with its id.

Agents cannot write these edges: they follow from what a record says, so that they are true as long
as it says so. A rule's id names the edge's kind and where it comes from; a rule that comes to mean
something else gets the next number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from vault_kg.extract.model import EdgeKind

VERSION: Final = 2
"""Raised when a rule changes, so that all edges of records are made again."""


@dataclass(frozen=True)
class FieldRule:
    """A field that names pages; `wanted` is the finding where a page of its type names none."""

    id: str
    kind: EdgeKind
    field: str
    page_type: str | None = None
    """Pages of this type, or of one below it; None is any that has the field."""
    wanted: str | None = None


FIELD_RULES: Final = (
    FieldRule("belongs_to/field@1", "belongs_to", "belongs_to", None, "no_entity"),
    FieldRule("tests/criteria@1", "tests", "criteria", "TestScenario", "no_criterion"),
    FieldRule(
        "implements/requirements@1", "implements", "requirements", "APIContract", "no_requirement"
    ),
    FieldRule("derives_from/requirements@1", "derives_from", "requirements", "Decision"),
    FieldRule("violates/constraints@1", "violates", "constraints", "Bug", "no_constraint"),
)

OWNER: Final = "belongs_to/owner@1"
ENTITIES: Final = "mentions/entities@1"
LINK: Final = "mentions/link@1"

CODE_PATH: Final = "code_path"
"""The field of a test scenario that says where its test is; read like `touches`."""

TOUCHES: Final = {
    "uid": ("touches/uid@1", 1.0),
    "path": ("touches/path@1", 1.0),
    "symbol": ("touches/symbol@1", 1.0),
    "heading": ("touches/heading@1", 1.0),
    "name": ("touches/name@1", 0.7),
}
"""How a page spells what it touches, with the rule and how sure that makes the edge."""
