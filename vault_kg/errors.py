"""Every error that a caller can meet, each with a stable code.

An error says what was wrong, where, and what to do next; `data` carries the same for a program. The
class docstring says when it is raised. Nothing else in the package raises a bare string at a caller.
"""

from __future__ import annotations

from typing import Any, ClassVar


class VaultError(Exception):
    """Base of all refusals; never raised itself."""

    code: ClassVar[str] = "error"

    def __init__(self, message: str, **data: Any) -> None:
        super().__init__(message)
        self.message = message
        self.data: dict[str, Any] = {k: v for k, v in data.items() if v is not None}

    def to_dict(self) -> dict[str, Any]:
        """Return the wire form `{code, message, data}`."""
        return {"code": self.code, "message": self.message, "data": self.data}


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
    """The record is known and its file is gone; `vault-kg restore` brings it back."""

    code = "missing"


class IdentityRefused(VaultError):
    """The ontology says otherwise than before which types tell pages apart, and pages have them."""

    code = "identity_refused"

    def __init__(self, message: str, **data: Any) -> None:
        super().__init__(message, **data, rpc_code=-32003)


class Cancelled(VaultError):
    """The caller took a long operation back; nothing of it is left half done."""

    code = "cancelled"


class ScopeDenied(VaultError):
    """The caller does not hold the scope of this operation."""

    code = "scope_denied"


class UnsafePath(VaultError):
    """A path would leave the vault, or is not a regular file of it."""

    code = "unsafe_path"


class WriteFailed(VaultError):
    """The disk refused (full, read-only, permission); nothing was acknowledged."""

    code = "write_failed"


class Busy(VaultError):
    """Another process kept the write lane longer than this caller wanted to wait."""

    code = "busy"


class Unavailable(VaultError):
    """The vault cannot be served until somebody acts (state lost, unknown format, not a vault)."""

    code = "unavailable"
