"""Every error that a caller can meet, each with a stable code.

An error says what was wrong, where, and what to do next; `data` carries the same for a program. The
class docstring says when it is raised. Nothing else in the package raises a bare string at a caller.
"""

from __future__ import annotations

import re
from typing import Any, ClassVar

_UNREADABLE = re.compile("[\ud800-\udfff]")
"""How Python holds the bytes of a name that are no UTF-8; no JSON has them."""


class VaultError(Exception):
    """Base of all refusals; never raised itself."""

    code: ClassVar[str] = "error"
    status: ClassVar[int | None] = None
    """The status that the consolidation protocol gives it, told in the message and in `data`."""

    def __init__(self, message: str, **data: Any) -> None:
        if self.status is not None:
            message = f"{self.status} {self.code}: {message}"
            data["status"] = self.status
        super().__init__(message)
        self.message = message
        self.data: dict[str, Any] = {k: v for k, v in data.items() if v is not None}

    def to_dict(self) -> dict[str, Any]:
        """Return the wire form `{code, message, data}`."""
        return {
            "code": self.code,
            "message": legible(self.message),
            "data": {k: legible(v) if isinstance(v, str) else v for k, v in self.data.items()},
        }


def legible(text: object) -> str:
    """Return text that every client can read: what of a name is not UTF-8 is replaced by U+FFFD."""
    return _UNREADABLE.sub("\ufffd", str(text))


class InvalidArgument(VaultError):
    """A request is not of its operation's form, or asks for what the operation never does."""

    code = "invalid_argument"


class InvalidRecord(VaultError):
    """The record that a request would write, or stands on, breaks a rule of records or ontology."""

    code = "invalid_record"


class NotFound(VaultError):
    """Nothing has this id, name, path, revision or commit."""

    code = "not_found"


class Ambiguous(VaultError):
    """More than one record fits; `data.candidates` lists them."""

    code = "ambiguous"


class StaleRevision(VaultError):
    """`expectedRevision` is not what stands; `data.current` says what does."""

    code = "stale_revision"


class StaleHash(VaultError):
    """`expectedHash` is not the hash of the file as it is; `data.current` says what is."""

    code = "stale_hash"


class StaleOntology(VaultError):
    """`expectedOntologyFingerprint` is not the vocabulary in force."""

    code = "stale_ontology"


class WrongVault(VaultError):
    """`expectedVaultId` names another vault."""

    code = "wrong_vault"


class MergedReference(VaultError):
    """A new write names a page that was merged; `data.survivor` is the id to use."""

    code = "merged_reference"


class ReservedEdgeType(VaultError):
    """Only the deterministic extractor may write this relationship type."""

    code = "reserved_edge_type"
    status = 403


class LifecycleRefused(VaultError):
    """The record's lifecycle does not allow this operation (superseded, withdrawn, merged)."""

    code = "lifecycle_refused"


class RequestMismatch(VaultError):
    """The `requestId` was used before with another payload."""

    code = "request_mismatch"


class ConflictBlocked(VaultError):
    """An editor's change met an accepted request; a person has to choose before anybody goes on."""

    code = "conflict_blocked"


class MissingFile(VaultError):
    """The record is known and has no file, or one that is ignored or no record; says what to do."""

    code = "missing"


class IdentityRefused(VaultError):
    """The ontology says otherwise than before which types tell pages apart, and pages have them."""

    code = "identity_refused"

    def __init__(self, message: str, **data: Any) -> None:
        super().__init__(message, **data, rpc_code=-32003)


class Cancelled(VaultError):
    """The caller took a long operation back; nothing of it is left half done."""

    code = "cancelled"


class PermissionDenied(VaultError):
    """The vault's configuration does not grant the agent this step, or the session is another's."""

    code = "permission_denied"
    status = 403


class SessionExpired(VaultError):
    """A consolidation session was not touched for its time to live."""

    code = "session_expired"
    status = 409


class SessionClosed(VaultError):
    """A consolidation session was committed, aborted or undone and takes nothing more."""

    code = "session_closed"
    status = 409


class CommitConflict(VaultError):
    """What a session was reconciled against has changed; propose again, then commit."""

    code = "commit_conflict"
    status = 409


class UndoBlocked(VaultError):
    """Something later stands on what a session wrote; `data.blocking` lists it."""

    code = "undo_blocked"
    status = 409


class SessionTooLarge(VaultError):
    """The candidates of a consolidation session are larger than they may be, all together."""

    code = "session_too_large"
    status = 413


class UnknownAttribute(VaultError):
    """The type of a candidate does not declare this attribute; `data.allowed` lists those it does."""

    code = "unknown_attribute"
    status = 422


class RateLimited(VaultError):
    """The agent has committed too many sessions within a minute; `data.retry_after` is in seconds."""

    code = "rate_limited"
    status = 429


class ScopeDenied(VaultError):
    """The caller does not hold the scope of this operation, or it is not among its tools."""

    code = "scope_denied"


class UnsafePath(VaultError):
    """A path would leave the vault, or is not a regular file of it."""

    code = "unsafe_path"


class WriteFailed(VaultError):
    """The disk refused (full, read-only, permission): all is as it was, or said to stay accepted."""

    code = "write_failed"


class Busy(VaultError):
    """Another process kept the write lane, or a file of the request open, longer than was waited."""

    code = "busy"


class Unavailable(VaultError):
    """The vault cannot be served until somebody acts (state lost, unknown format, not a vault)."""

    code = "unavailable"
