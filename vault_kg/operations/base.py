"""What every request and result is built from: spelling, strictness, and the receipt.

The records family is spelled in camelCase on the wire; snake_case is accepted. An unknown key is
refused and named. A list may arrive as a JSON string, as some clients send it.
"""

from __future__ import annotations

import json
import math
import re
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
)
from pydantic.alias_generators import to_camel

from vault_kg.records.names import is_visible
from vault_kg.records.yaml_scalars import Value, checked

MAX_TEXT = 2_000_000
_CONTROLS = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f]")
_LINE_BREAKS = re.compile("[\x00-\x1f\x7f\x85\u2028\u2029]")


def _one_line(text: str) -> str:
    if found := _LINE_BREAKS.search(text):
        raise ValueError(f"must be one line without control characters; holds {_code(found)}")
    return text


def _plain_text(text: str) -> str:
    if found := _CONTROLS.search(text):
        raise ValueError(f"holds the control character {_code(found)}; leave it out")
    return text


def _name(text: str) -> str:
    if not any(c.isalnum() for c in text):
        raise ValueError("must be a name with a letter or a digit")
    return text


def _seen(text: str) -> str:
    if not is_visible(text):
        raise ValueError("must have a character that can be seen")
    return text


def _code(found: re.Match[str]) -> str:
    return f"U+{ord(found.group()):04X} at character {found.start() + 1}"


def read_list(value: Any) -> Any:
    """Read a list that was sent as a JSON string."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def _mapping(value: Any) -> Any:
    """Read an object, also one that was sent as a JSON string; only what front matter can hold."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            value = json.loads(value)
        except ValueError:
            return value
    if not isinstance(value, dict):
        return value
    try:
        return _finite(checked(value, "it"))
    except TypeError as error:
        raise ValueError(str(error)) from None


def _finite(value: Value) -> Value:
    """Refuse NaN and infinities: no JSON answer could hold them."""
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"holds {value}, which is not a number; give text")
    if isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            _finite(item)
    return value


Line = Annotated[str, StringConstraints(max_length=2_000), AfterValidator(_one_line)]
"""One line of text without control characters."""

Title = Annotated[
    str,
    StringConstraints(strip_whitespace=True, max_length=2_000),
    AfterValidator(_one_line),
    AfterValidator(_seen),
]
"""The name of a record: a line that can be seen, without the space around it."""

Name = Annotated[
    str, StringConstraints(max_length=100), AfterValidator(_one_line), AfterValidator(_name)
]
"""The name of a type or kind, in any spelling."""

Partition = Annotated[
    str, StringConstraints(min_length=1, max_length=60), AfterValidator(_one_line)
]
"""The name of a partition that is written to."""

Text = Annotated[str, StringConstraints(max_length=MAX_TEXT), AfterValidator(_plain_text)]
"""Text of at most two million characters, without control characters but tabs and line breaks."""

Said = Annotated[Text, AfterValidator(_seen)]
"""What a statement says: text that can be seen."""

Quote = Annotated[str, StringConstraints(max_length=MAX_TEXT)]
"""What a source says, verbatim, whatever it holds."""

Id = Annotated[str, StringConstraints(min_length=1, max_length=1_000), AfterValidator(_one_line)]
"""A record id, or the uid of a note."""

RequestId = Annotated[
    str, StringConstraints(min_length=1, max_length=200), AfterValidator(_one_line)
]
Reason = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=4_000),
    AfterValidator(_plain_text),
]
Hash = Annotated[str, StringConstraints(pattern=r"^sha256:[0-9a-f]{64}$")]
Positive = Annotated[int, Field(ge=1, le=1 << 53)]
Lines = Annotated[list[Line], BeforeValidator(read_list)]
Ids = Annotated[list[Id], BeforeValidator(read_list)]
Limit = Annotated[int, Field(ge=1, le=1_000)]
Cursor = Annotated[str, StringConstraints(max_length=2_000)]
Mapping = Annotated[dict[str, Any], BeforeValidator(_mapping)]


class Model(BaseModel):
    """A part of a request or result."""

    model_config = ConfigDict(
        extra="forbid",
        alias_generator=to_camel,
        populate_by_name=True,
        serialize_by_alias=True,
    )


class Request(Model):
    """The arguments of an operation."""


class Write(Request):
    """What every change carries."""

    request_id: RequestId = Field(
        description="Fresh for each new request; repeat it with the same arguments to retry safely."
    )
    expected_vault_id: Line | None = Field(None, description="Refuse if this is another vault.")


class Fenced(Write):
    """A change of one record that the caller has looked at."""

    id: Id = Field(description="The exact record id.")
    expected_revision: Positive = Field(description="The revision that you looked at.")
    expected_hash: Hash = Field(description="The hash that you looked at.")


class RecordFence(Model):
    """One record as the caller saw it."""

    id: Id
    expected_revision: Positive
    expected_hash: Hash


class EvidenceItem(Model):
    """A citation of a retained source."""

    source: Id = Field(description="Source id (sr_…), from knowledge_attach_file.")
    lines: Line | None = Field(None, description='Inclusive lines of the source, like "3-7".')
    quote: Quote | None = Field(None, description="Text that occurs there verbatim.")
    attribution: Line | None = Field(None, description="Who says it, where that matters.")


Evidence = Annotated[list[EvidenceItem], BeforeValidator(read_list)]


class Item(Model):
    """A record in a list."""

    id: str
    kind: str
    title: str


class Git(Model):
    """Whether a change is in the Git history yet."""

    state: Literal["committed", "pending", "unavailable"]
    commit: str | None = None
    reason: str | None = None


class ImpactItem(Item):
    """A record that stands on another one."""

    via: str
    depth: int


class Impact(Model):
    """What stands on a record: unresolved, not repaired."""

    items: list[ImpactItem]
    total: int
    truncated: bool


class Conflicting(Model):
    """A field in which two merged pages differ; the survivor's value stands."""

    field: str
    survivor: Any
    absorbed: Any


class Receipt(Model):
    """What was done; the same request again gives the same receipt."""

    operation: str
    request_id: str
    target_id: str | None = None
    replacement_id: str | None = None
    reason: str | None = None
    revision: int | None = None
    hash: str | None = None
    path: str | None = None
    changed: bool = True
    published_at: str
    actor: str
    git: Git
    impact: Impact | None = None
    added: dict[str, Any] | None = None
    removed: dict[str, Any] | None = None
    kept: dict[str, Any] | None = None
    conflicts: list[Conflicting] | None = None
    source: dict[str, Any] | None = None
    choice: str | None = None
    warnings: list[str] | None = None
    result: dict[str, Any] | None = Field(None, description="What a graph operation answered.")
