"""The model that the environment names; nothing is loaded until a text is to be read.

| variable | what it says |
| --- | --- |
| `VAULT_KG_EXTRACTION_MODEL` | a GGUF file, an installed model's name, or a name at the endpoint |
| `VAULT_KG_EXTRACTION_ENDPOINT` | the base URL of an OpenAI-compatible API |
| `VAULT_KG_EXTRACTION_KEY` | its key |
| `VAULT_KG_EXTRACTION_SECONDS` | the deadline of one answer (600) |
| `VAULT_KG_EXTRACTION_REPLAY` | a recording to answer from, instead of a model |
| `VAULT_KG_EXTRACTION_RECORD` | a recording that answers are added to |
"""

from __future__ import annotations

import atexit
import os
import threading
from pathlib import Path
from typing import NamedTuple

from vault_kg.errors import InvalidArgument
from vault_kg.ingest.asking import Extractor
from vault_kg.ingest.endpoint import Endpoint
from vault_kg.ingest.local import LocalModel, unavailable
from vault_kg.ingest.replay import Recorded, Replayed

_PREFIX = "VAULT_KG_EXTRACTION_"
MODEL = f"{_PREFIX}MODEL"
ENDPOINT = f"{_PREFIX}ENDPOINT"
REPLAY = f"{_PREFIX}REPLAY"
RECORD = f"{_PREFIX}RECORD"
KEY = f"{_PREFIX}KEY"
SECONDS = f"{_PREFIX}SECONDS"
OFF = "off"
DEFAULT_SECONDS = 600.0

NOT_CONFIGURED = (
    f"no extraction model is configured. Set {MODEL} to the file of a chat model (GGUF), or also "
    f"{ENDPOINT} to the URL of an OpenAI-compatible API; `vault-kg models fetch extraction` "
    "installs a small one to try it with. Without a model, record what you know with "
    "knowledge_assert_entity and knowledge_assert_relationship, or retain the text with "
    "knowledge_attach_file"
)


class Settings(NamedTuple):
    """What the environment says."""

    model: str | None
    endpoint: str | None
    key: str | None
    seconds: float
    replay: str | None
    record: str | None

    @classmethod
    def read(cls) -> Settings:
        """Read the environment."""
        model, endpoint, key, replay, record = (
            os.environ.get(name) or None for name in (MODEL, ENDPOINT, KEY, REPLAY, RECORD)
        )
        return cls(
            None if model == OFF else model, endpoint, key or os.environ.get("OPENAI_API_KEY"),
            _seconds(os.environ.get(SECONDS)), replay, record,
        )  # fmt: skip


_lock = threading.Lock()
_held: dict[Settings, Extractor] = {}


def extractor() -> Extractor:
    """Return the model that the environment names, the same one for the same settings.

    Raises:
        Unavailable: none is named, or it cannot be had; says what to do.
        InvalidArgument: a setting is of no use.
    """
    settings = Settings.read()
    with _lock:
        if settings not in _held:
            _close_all()
            _held[settings] = _make(settings)
        return _held[settings]


def _make(settings: Settings) -> Extractor:
    if settings.replay is not None:
        return Replayed(Path(settings.replay))
    if settings.model is None:
        raise unavailable(NOT_CONFIGURED)
    made: Extractor
    if settings.endpoint is not None:
        made = Endpoint(
            settings.endpoint, settings.model, settings.key, call_seconds=settings.seconds
        )
    else:
        made = LocalModel(settings.model, call_seconds=settings.seconds)
    return Recorded(made, Path(settings.record)) if settings.record is not None else made


def _close_all() -> None:
    for held in _held.values():
        held.close()
    _held.clear()


def _seconds(text: str | None) -> float:
    if text is None:
        return DEFAULT_SECONDS
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 86_400:
        raise InvalidArgument(f"{SECONDS}={text!r} is no number of seconds", field=SECONDS)
    return seconds


atexit.register(_close_all)
