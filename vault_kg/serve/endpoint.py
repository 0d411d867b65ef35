"""Where a vault's service listens, and that there is only one.

On Unix a socket `.vault-kg/service.sock` that only its owner can reach, or one in the folder for
temporary files where that path is too long or not UTF-8; on Windows a named pipe whose name follows
from the socket's path. `.vault-kg/service.endpoint` names it for clients.
"""

from __future__ import annotations

import hashlib
import os
import socket
import stat
import struct
import sys
import tempfile
from pathlib import Path

from filelock import FileLock, Timeout

from vault_kg.errors import Unavailable, legible

PRIVATE = ".vault-kg"
SOCKET, NAME_FILE, LOCK, PID = "service.sock", "service.endpoint", "service.lock", "service.pid"

LONGEST_SOCKET_PATH = 100
"""A Unix socket's path has at most 107 bytes on Linux and 103 on macOS."""

_PIPES = "\\\\.\\pipe\\"
_FNV_OFFSET, _FNV_PRIME = 0xCBF29CE484222325, 0x100000001B3


class Endpoint:
    """The endpoint of one vault's service; `claim` holds it for this process."""

    def __init__(self, private: Path) -> None:
        """Stand for the service of the vault with this private folder."""
        self._private = private
        self._lock = FileLock(private / LOCK)
        self._socket: tuple[int, int] | None = None

    @property
    def address(self) -> str:
        """The socket's path, or the pipe's name."""
        path = self._private.absolute() / SOCKET
        if sys.platform == "win32":
            return pipe_name(path)
        if len(os.fsencode(path)) <= LONGEST_SOCKET_PATH and legible(path) == str(path):
            return str(path)
        short = hashlib.sha256(os.fsencode(path)).hexdigest()[:16]
        return str(Path(tempfile.gettempdir()) / f"vault-kg-{os.getuid()}" / f"{short}.sock")

    def claim(self) -> None:
        """Become the one service of the vault; what a dead one left is cleared away.

        Raises:
            Unavailable: another process serves it, which is named; or the place for the socket is
                not ours alone.
        """
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            pid = self._read_pid()
            raise Unavailable(
                f"this vault is served already, by process {pid or 'unknown'}; use that one "
                "(`vault-kg mcp --connect`), or stop it first",
                pid=pid,
                address=find(self._private),
            ) from None
        try:
            self._clear_address()
            (self._private / PID).write_text(f"{os.getpid()}\n", encoding="utf-8")
        except BaseException:
            self._lock.release()
            raise

    def announce(self) -> None:
        """Write down where the service listens."""
        self._socket = _identity(self.address)
        (self._private / NAME_FILE).write_text(f"{self.address}\n", encoding="utf-8")

    def is_reachable(self) -> bool:
        """Say whether clients still find this service: its files are there, and its own."""
        return self._read_pid() == os.getpid() and _identity(self.address) == self._socket

    def release(self) -> None:
        """Leave nothing behind; what a service wrote that took our place stays."""
        if self._read_pid() in (None, os.getpid()):
            for name in (NAME_FILE, PID):
                (self._private / name).unlink(missing_ok=True)
            if sys.platform != "win32":
                Path(self.address).unlink(missing_ok=True)
        self._lock.release()

    def _clear_address(self) -> None:
        if sys.platform == "win32":
            return
        address = Path(self.address)
        if address.parent != self._private.absolute():
            _make_own_folder(address.parent)
        address.unlink(missing_ok=True)

    def _read_pid(self) -> int | None:
        try:
            return int((self._private / PID).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None


def find(private: Path) -> str:
    """Return the address of the service of the vault with this private folder, running or not."""
    try:
        return (private / NAME_FILE).read_text(encoding="utf-8").strip()
    except OSError:
        return Endpoint(private).address


def named(text: str) -> str:
    r"""Return the address that a person means by a text.

    Args:
        text: a socket's path, a pipe's name, an endpoint file, or a vault's folder.
    """
    path = Path(text)
    if text.startswith(_PIPES):
        return text
    if path.is_dir():
        return find(path.absolute() / PRIVATE)
    if path.name == NAME_FILE or (path.is_file() and path.suffix == ".endpoint"):
        return find(path.absolute().parent)
    return pipe_name(path.absolute()) if sys.platform == "win32" else str(path.absolute())


def is_trusted(connection: socket.socket) -> bool:
    """Say whether the other side runs as this user or as root, where the platform tells."""
    if sys.platform != "linux" or connection.family != socket.AF_UNIX:
        return True
    found = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    _, uid, _ = struct.unpack("3i", found)
    return uid in (0, os.getuid())


def pipe_name(socket_path: Path | str) -> str:
    r"""Return the Windows pipe of a socket path: `\\.\pipe\vault-kg-<16 hex digits>`.

    The digits are FNV-1a (64 bits) of the absolute path's UTF-8 bytes, lower-cased and with `/` as
    `\`, so that a client that cannot read the endpoint file can compute them.
    """
    text = str(socket_path)
    if text.startswith(_PIPES):
        return text
    number = _FNV_OFFSET
    for byte in text.lower().replace("/", "\\").encode():
        number = ((number ^ byte) * _FNV_PRIME) & 0xFFFFFFFFFFFFFFFF
    return f"{_PIPES}vault-kg-{number:016x}"


def _identity(address: str) -> tuple[int, int] | None:
    """Return what tells a socket from another one at the same path; None for a pipe."""
    if sys.platform == "win32":
        return None
    try:
        found = os.lstat(address)
    except OSError:
        return 0, 0
    return found.st_dev, found.st_ino


def _make_own_folder(folder: Path) -> None:
    """Make a folder in a place for everybody, and hold that it is ours and closed to others."""
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise Unavailable(
            f"{folder} is not a folder of this user alone (mode 0700), so that no socket can be "
            "put there; remove it, or move the vault to a shorter path",
            path=str(folder),
        )
