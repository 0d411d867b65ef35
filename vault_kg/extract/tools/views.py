"""The envelope of every answer, and how nodes and edges look in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Generic, Literal, TypeVar, get_args

from pydantic import AfterValidator, BeforeValidator, Field

from vault_kg.extract.backends.protocol import GraphReader
from vault_kg.extract.backends.values import EdgeRow, NodeRow
from vault_kg.extract.model import EdgeKind, NodeKind
from vault_kg.operations.base import Line, read_list
from vault_kg.operations.graph.request import GraphModel, GraphRequest

D = TypeVar("D", bound="Data")


class Freshness(GraphModel):
    """Whether the graph shows the tree as it is now."""

    state: Literal["fresh", "stale", "gone", "unindexed", "indexed", "empty"] = Field(
        description="Of one file: fresh, stale, gone, unindexed; of the whole graph: indexed, empty."
    )
    path: str | None = None
    indexed_at: str | None = None
    indexed_hash: str | None = None
    disk_hash: str | None = None
    queued: bool = Field(False, description="Changes are queued that are not indexed yet.")


class Meta(GraphModel):
    """What an answer rests on."""

    layer: Literal["graph"] = "graph"
    backend: str
    backend_fallback: bool = False
    truncated: bool = Field(False, description="A list or walk was cut; totals are true.")
    resolved_from: (
        Literal["direct", "path_suffix", "path_prefix", "fuzzy_fts5", "fuzzy_label"] | None
    ) = None
    freshness: Freshness
    hint: str | None = Field(None, description="What to do where the answer is empty or uncertain.")
    near: list[str] = Field(
        default_factory=list, description="Uids with a similar name, where nothing has the name."
    )


class Data(GraphModel):
    """What every answer has."""

    meta: Meta


class Answer(GraphModel, Generic[D]):
    """The envelope."""

    ok: bool = Field(True, description="False is never answered: a refusal is an error.")
    data: D


class Listed(Data):
    """What answers of lists have."""

    count: int = Field(description="Items in this answer.")
    total: int = Field(description="Items in all.")


class NodeView(GraphModel):
    """A node: a symbol, file, folder, heading, key, record, or something outside."""

    uid: str
    kind: str
    label: str
    root: str
    path: str | None = None
    start_line: int | None = None
    end_line: int | None = None
    signature: str | None = None
    summary: str | None = None
    roles: list[str] = Field(default_factory=list)
    stub: bool = Field(False, description="Nothing is known of it but its name.")


class SignalView(GraphModel):
    """One reason for a confidence."""

    name: str
    weight: float


class EdgeView(GraphModel):
    """A directed connection, between uids."""

    source: str
    target: str
    kind: str
    confidence: float
    extractor: str | None = None
    line: int | None = None
    signals: list[SignalView] = Field(default_factory=list)


def _names(value: Any) -> Any:
    """Read names: a list, a list as a JSON string, or names with commas between them."""
    read = read_list(value)
    if isinstance(read, str):
        return [part.strip() for part in read.split(",") if part.strip()]
    return read


def _some_of(known: Iterable[str], what: str) -> AfterValidator:
    """Return the check that names are among those of a vocabulary."""
    every = sorted(known)

    def check(value: list[str] | str) -> list[str] | str:
        for name in [value] if isinstance(value, str) else value:
            if name not in every:
                raise ValueError(f"{name!r} is no kind of {what}; there are {', '.join(every)}")
        return value

    return AfterValidator(check)


Names = Annotated[list[Line], BeforeValidator(_names)]
NodeKinds = Annotated[Names, _some_of(get_args(NodeKind), "node")]
EdgeKinds = Annotated[Names, _some_of(get_args(EdgeKind), "edge")]
OneNodeKind = Annotated[Line, _some_of(get_args(NodeKind), "node")]
Confidence = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]
Top = Annotated[int, Field(ge=1, le=500)]
Limit = Annotated[int, Field(ge=1, le=10_000)]

UID = Field(description="A uid, or a path, path::name or name; what it was taken for is reported.")
ROOT = Field(None, description="Only this root; needed where several have the same uid.")
KINDS = Field(None, description="Only these kinds of nodes, as a list or with commas.")


class AboutOne(GraphRequest):
    """The node that is asked about."""

    uid: Line = UID
    root: Line | None = ROOT


def node_view(row: NodeRow) -> NodeView:
    """Return a node as answers show it."""
    node = row.node
    return NodeView(
        uid=node.uid, kind=node.kind, label=node.label, root=row.root, path=node.path,
        start_line=node.start_line, end_line=node.end_line, signature=node.signature or None,
        summary=node.summary or None, roles=list(node.roles), stub=row.stub,
    )  # fmt: skip


def node_views(rows: Iterable[NodeRow]) -> list[NodeView]:
    """Return nodes as answers show them."""
    return [node_view(row) for row in rows]


def edge_view(edge: EdgeRow, uid_of: Mapping[int, NodeRow]) -> EdgeView:
    """Return an edge as answers show it; both its ends are in `uid_of`."""
    return EdgeView(
        source=uid_of[edge.id.source].node.uid, target=uid_of[edge.id.target].node.uid,
        kind=edge.id.kind, confidence=edge.confidence, extractor=edge.id.extractor,
        line=edge.line, signals=[SignalView(name=s.name, weight=s.weight) for s in edge.signals],
    )  # fmt: skip


def edge_views(reader: GraphReader, edges: Iterable[EdgeRow]) -> list[EdgeView]:
    """Return edges as answers show them."""
    listed = list(edges)
    rows = reader.nodes({end for edge in listed for end in edge.id[:2]})
    return [edge_view(edge, rows) for edge in listed]
