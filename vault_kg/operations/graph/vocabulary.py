"""The vocabulary that a group's records were last taken over with, and what has changed since."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from vault_kg.errors import IdentityRefused
from vault_kg.index import listing
from vault_kg.index.listing import Filter
from vault_kg.records.ontology import Ontology
from vault_kg.state import settings

if TYPE_CHECKING:
    from vault_kg.operations.workspace import Workspace

_SETTING = "vocabulary:"
_SHOWN = 10


@dataclass(frozen=True)
class Taken:
    """A vocabulary as a group took it over: its fingerprint, names, and identity-bearing types."""

    fingerprint: str
    page_types: tuple[str, ...]
    relation_types: tuple[str, ...]
    identity: tuple[str, ...]

    @classmethod
    def of(cls, ontology: Ontology) -> Taken:
        """Return what is remembered of a vocabulary."""
        return cls(
            ontology.fingerprint,
            tuple(sorted(ontology.page_types)),
            tuple(sorted(ontology.relationship_types)),
            tuple(sorted(t.name for t in ontology.page_types.values() if t.identity)),
        )


def taken(ws: Workspace, group: str) -> Taken | None:
    """Return what a group took over last, or None where it never did."""
    text = settings.get(ws.database, _SETTING + group)
    if text is None:
        return None
    values: dict[str, Any] = json.loads(text)
    names = (tuple(values[key]) for key in ("page_types", "relation_types", "identity"))
    return Taken(str(values["fingerprint"]), *names)


def remember(ws: Workspace, group: str, wanted: Taken) -> None:
    """Remember that a group took a vocabulary over."""
    settings.put(ws.database, _SETTING + group, json.dumps(asdict(wanted)))


def note(ws: Workspace, group: str) -> None:
    """Remember the vocabulary under which a group got its first record."""
    if group and taken(ws, group) is None:
        remember(ws, group, Taken.of(ws.ontology(group)))


def drift(ws: Workspace, group: str) -> dict[str, Any]:
    """Say whether the vocabulary in force is another one than the group took over, and how."""
    before, now = taken(ws, group), Taken.of(ws.ontology(group))
    drifted = before is not None and before.fingerprint != now.fingerprint
    return {
        "group_id": group,
        "drifted": drifted,
        "drift_summary": _difference(before, now) if before is not None and drifted else None,
    }


def identity_refusal(ws: Workspace, group: str) -> dict[str, Any] | None:
    """Say whether what tells pages apart has changed for types that the group has pages of."""
    before = taken(ws, group)
    if before is None:
        return None
    now = set(Taken.of(ws.ontology(group)).identity)
    counts = listing.type_counts(ws.database, Filter(ws.now(), kinds=("page",), partitions=[group]))
    for label in sorted(now ^ set(before.identity)):
        count = counts.get(("page", label), 0)
        if count:
            adding = label in now
            return {
                "message": f"{label} {'became' if adding else 'is no longer'} a type that tells "
                f"pages apart, and the group {group!r} has {count} of them; restore `identity` in "
                "the ontology, or take the group in anew from its sources",
                "label": label,
                "count": count,
                "adding": adding,
            }
    return None


def check_identity(ws: Workspace, group: str) -> None:
    """Refuse to read text into a group whose pages would be told apart otherwise than before.

    Raises:
        IdentityRefused: with `data.reason` `identity_set_change_refused`.
    """
    refusal = identity_refusal(ws, group)
    if refusal is not None:
        raise IdentityRefused(
            refusal["message"],
            reason="identity_set_change_refused",
            group_id=group,
            label=refusal["label"],
            entity_count=refusal["count"],
        )


def _difference(before: Taken, now: Taken) -> str:
    parts = []
    for what, old, new in (
        ("page types", before.page_types, now.page_types),
        ("relation types", before.relation_types, now.relation_types),
        ("identity-bearing types", before.identity, now.identity),
    ):
        for verb, names in (("added", set(new) - set(old)), ("removed", set(old) - set(new))):
            if names:
                listed = sorted(names)
                more = f" and {len(listed) - _SHOWN} more" if len(listed) > _SHOWN else ""
                parts.append(f"{what} {verb}: {', '.join(listed[:_SHOWN])}{more}")
    return "; ".join(parts) or "rules of the same types changed"
