"""Attaching and reading retained sources."""

from __future__ import annotations

import base64
import binascii
import hashlib
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, StringConstraints

from vault_kg.errors import InvalidArgument, NotFound
from vault_kg.index import catalog, lost, validate
from vault_kg.operations import checks
from vault_kg.operations.base import Id, Line, Model, Partition, Receipt, Request, Write
from vault_kg.operations.caller import Caller
from vault_kg.operations.registry import operation
from vault_kg.operations.workspace import Workspace
from vault_kg.state import journal as rows
from vault_kg.store import paths, sources, uploads
from vault_kg.store.plan import Change, Plan

MAX_CHUNK = 8_000_000

Sha256 = Annotated[str, StringConstraints(pattern=r"^(sha256:)?[0-9a-f]{64}$")]


class AttachFile(Write):
    """Retain a file of this machine as a source."""

    file_path: Line = Field(description="A regular file; links are refused.")
    sha256: Sha256 = Field(description="Of the bytes that you looked at.")
    filename: Line | None = Field(None, description="The name to keep, if not that of the file.")
    media_type: Line | None = None
    attribution: Line | None = Field(None, description="Whose words these are.")
    partition: Partition | None = None


class Attach(Write):
    """Retain bytes that are sent in chunks as a source."""

    name: Line = Field(min_length=1, description="The file name to keep.")
    sha256: Sha256 = Field(description="Of all the bytes.")
    size: int = Field(ge=0, le=sources.MAX_SOURCE_BYTES)
    offset: int = Field(ge=0)
    chunk: Annotated[str, StringConstraints(max_length=MAX_CHUNK * 2)] = Field(
        description="Base64."
    )
    final: bool = False
    media_type: Line | None = None
    attribution: Line | None = None
    partition: Partition | None = None


class SourceView(Model):
    """A source's descriptor."""

    id: str
    sha256: str
    path: str
    filename: str
    media_type: str
    size: int
    attribution: str | None = None
    partition: str
    recorded_at: str


class Attached(Model):
    """How far an attachment is; the receipt once it is complete."""

    received: int
    size: int
    receipt: Receipt | None = None


class ReadSource(Request):
    """Read what a source says."""

    id: Id
    lines: Line | None = Field(None, description='Like "3-7"; all lines where left out.')
    max_chars: int = Field(20_000, ge=1, le=1_000_000)
    column: int = Field(0, ge=0, description="Characters of the first line to pass over.")


class SourceText(SourceView):
    """A source's text, or a part of it."""

    text: str
    lines: str | None = None
    total_lines: int
    truncated: bool
    next_line: int | None = Field(None, description="Where to go on reading.")
    next_column: int | None = Field(None, description="And where in that line, if inside it.")
    verified: bool = Field(description="Whether the bytes are still those that were retained.")


@operation("write", Receipt)
def knowledge_attach_file(ws: Workspace, request: AttachFile, caller: Caller) -> Receipt:
    """Retain a file as a source that claims and relationships can cite.

    The receipt's source has its id. The same bytes are the same source. The file itself is only
    read.
    """
    path = Path(request.file_path)
    if not path.is_absolute():
        path = ws.vault.root / path
    content = sources.read_outside(path, request.sha256)
    return _retain(
        ws, request, caller, "knowledge_attach_file", content, request.filename or path.name
    )


@operation("write", Attached)
def knowledge_attach(ws: Workspace, request: Attach, caller: Caller) -> Attached:
    """Retain bytes as a source, sent in base64 chunks by a client that has no file here.

    Chunks may be repeated; the last one has final true. What is not finished is removed a day after
    its last chunk, and earlier where more than 16 are begun: then the next chunk says where to go on.
    """
    _partition(request, caller)
    chunk = _decode(request.chunk)
    sha256 = request.sha256.removeprefix("sha256:")
    partial = uploads.part(ws.vault.private, sha256, request.request_id)
    answered = rows.find(ws.database, request.request_id) is not None
    if request.final and answered and not partial.exists():
        receipt = _retain(ws, _whole(request), caller, "knowledge_attach", b"", request.name)
        return Attached(received=request.size, size=request.size, receipt=receipt)
    received = uploads.append(partial, request.offset, chunk, request.size)
    if not request.final:
        return Attached(received=received, size=request.size)
    content = partial.read_bytes()
    if len(content) != request.size or hashlib.sha256(content).hexdigest() != sha256:
        raise InvalidArgument(
            f"{len(content):,} bytes were received that are not the {request.size:,} with this sha256; "
            "send the missing chunks again",
            received=len(content),
        )
    receipt = _retain(ws, _whole(request), caller, "knowledge_attach", content, request.name)
    partial.unlink(missing_ok=True)
    return Attached(received=len(content), size=request.size, receipt=receipt)


@operation("read", SourceText)
def knowledge_source(ws: Workspace, request: ReadSource, caller: Caller) -> SourceText:
    """Read a retained source, or some of its lines; quotes in evidence must occur in it verbatim."""
    source = catalog.source(ws.database, request.id)
    if source is None or not caller.sees(source.partition):
        raise _no_source(ws, request.id, caller)
    content, verified = sources.verify(ws.vault.root, source)
    if content is None:
        raise NotFound(
            f"the bytes of {request.id} are gone from {source.path}; restore the file from Git",
            id=request.id,
            path=source.path,
        )
    every = validate.text_lines(content.decode("utf-8", errors="replace"))
    first, last = _span(request.lines, len(every))
    text, end, column = _within(every[first - 1 : last], request.max_chars, request.column)
    end += first - 1
    following = end if column else end + 1
    more = following <= last
    return SourceText(
        **_view(source),
        text=text,
        lines=f"{first}-{end}" if last >= first else None,
        total_lines=len(every),
        truncated=more,
        next_line=following if more else None,
        next_column=column if more else None,
        verified=verified,
    )


def _no_source(ws: Workspace, source_id: str, caller: Caller) -> NotFound:
    """Return the error for an id that no descriptor has; says why where there was one."""
    gone = lost.source(ws.database, ws.vault.root, source_id)
    if gone is None or not caller.sees(gone.partition):
        return NotFound(
            f"there is no source {source_id}; knowledge_sources lists them", id=source_id
        )
    why = gone.reason
    return NotFound(
        f"{why.message}. {why.hint[0].upper()}{why.hint[1:]}", id=source_id, path=gone.path
    )


def _retain(
    ws: Workspace,
    request: AttachFile | Attach,
    caller: Caller,
    operation: str,
    content: bytes,
    filename: str,
) -> Receipt:
    partition = _partition(request, caller)

    def plan() -> Plan:
        source = sources.describe(
            content, partition, filename, ws.now(),
            media_type=request.media_type, attribution=request.attribution,
        )  # fmt: skip
        known = catalog.source(ws.database, source.id)
        stands = known or source
        receipt = {
            "targetId": source.id,
            "hash": f"sha256:{source.sha256}",
            "path": stands.path,
            "changed": known is None,
            "source": _view(stands),
        }
        changed: tuple[Change, ...] = () if known else sources.changes(source, content)
        return Plan(partition, receipt, changed, stands.filename)

    return ws.write(caller, operation, request, plan)


def _partition(request: AttachFile | Attach, caller: Caller) -> str:
    return checks.partition_to_write(request.partition or paths.DEFAULT_PARTITION, caller)


def _view(source: sources.Source) -> dict[str, Any]:
    view = SourceView(**{k: getattr(source, k) for k in SourceView.model_fields})
    return view.model_dump(by_alias=True)


def _decode(chunk: str) -> bytes:
    try:
        return base64.b64decode(chunk, validate=True)
    except (binascii.Error, ValueError):
        raise InvalidArgument(
            "chunk is not base64; send the bytes in its standard alphabet, padded", field="chunk"
        ) from None


def _whole(request: Attach) -> Attach:
    """Return the request that every last chunk of the same bytes stands for."""
    return request.model_copy(update={"chunk": "", "offset": 0})


def _span(lines: str | None, total: int) -> tuple[int, int]:
    if lines is None:
        return 1, total
    span = validate.line_span(lines)
    if span is None or not span[0] <= span[1] <= total:
        raise InvalidArgument(
            f'lines {lines!r} are not within 1-{total}; give a line or a span like "3-7"',
            field="lines",
        )
    return span


def _within(lines: list[str], limit: int, column: int) -> tuple[str, int, int]:
    """Return text that fits, the number of its last line (from 1), and where that one goes on.

    Whole lines are taken while they fit; a first line that alone is too long is given in parts.
    """
    if not lines:
        return "", 0, 0
    first = lines[0][column:]
    if len(first) > limit:
        return first[:limit], 1, column + limit
    shown = [first]
    room = limit - len(first)
    for line in lines[1:]:
        room -= len(line) + 1
        if room < 0:
            break
        shown.append(line)
    return "\n".join(shown), len(shown), 0
