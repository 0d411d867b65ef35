"""What is said where an accepted request could not be carried out: what became of it."""

from __future__ import annotations

from vault_kg.errors import VaultError, WriteFailed
from vault_kg.state.journal import Entry


def write_failed(error: Exception) -> VaultError:
    """Return the refusal of a request that was taken back for good."""
    if isinstance(error, VaultError):
        return error
    where = getattr(error, "filename2", None) or getattr(error, "filename", None) or "the vault"
    return WriteFailed(
        f"the disk refused ({_reason(error)}) at {where}; the vault is as it was. Free some space "
        "or mend the permissions, then repeat the request"
    )


def stays_accepted(entry: Entry, error: Exception) -> WriteFailed:
    """Return the refusal of a request that the disk lets nobody take back either."""
    return WriteFailed(
        f"the disk refused ({_reason(error)}) to take request {entry.request_id!r} back. It stays "
        "accepted and is finished once the disk allows it; nothing else is written before. Free "
        "some space or mend the permissions, then repeat the request or call knowledge_resume",
        request_id=entry.request_id,
    )


def _reason(error: Exception) -> str:
    if isinstance(error, VaultError):
        return "the state cannot be written"
    return getattr(error, "strerror", None) or str(error)
