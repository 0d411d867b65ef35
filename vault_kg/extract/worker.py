"""The processes that read and extract files for the one that writes the graph: see `index.readers`."""

from __future__ import annotations

import gc
import sys
from pathlib import Path

from vault_kg.extract import registry
from vault_kg.extract.reading import Known, Seen, look
from vault_kg.index import readers


def look_at(root: Path, path: str, known: Known | None) -> Seen:
    """Look at a file with the extractor that is registered for it."""
    extractor = registry.extractor_for(path)
    return Seen("gone") if extractor is None else look(root, path, known, extractor)


RARELY = (100_000, 50, 1_000)
"""What an extraction makes is told by counting references; cycles are few, and looked for rarely."""

if __name__ == "__main__":
    gc.set_threshold(*RARELY)
    readers.serve(Path(sys.argv[1]), look_at)
