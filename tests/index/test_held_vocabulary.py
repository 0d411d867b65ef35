"""A plan is made under one vocabulary, whatever is saved while it is made."""

from __future__ import annotations

import threading
from pathlib import Path

from vault_kg.index.ontologies import Ontologies

DECLARED = "format: ontology-v1\npage_types:\n  Ship:\n    description: A vessel.\n"


def test_a_vocabulary_stays_for_as_long_as_it_is_held_and_for_its_thread_alone(
    tmp_path: Path,
) -> None:
    ontologies = Ontologies(tmp_path)
    with ontologies.held():
        before = ontologies.of("main")
        (tmp_path / "ontology.yaml").write_text(DECLARED)
        assert ontologies.of("main") is before
        seen: list[bool] = []
        other = threading.Thread(target=lambda: seen.append(ontologies.of("main") is before))
        other.start(), other.join()
        assert seen == [False]
    assert ontologies.of("main").fingerprint != before.fingerprint
    with ontologies.held():
        assert ontologies.of("main").fingerprint != before.fingerprint
