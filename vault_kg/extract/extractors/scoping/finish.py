"""From what a walk collected to an extraction."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from vault_kg.extract.extractors.nodes import NodeList, is_test_path
from vault_kg.extract.extractors.scoping.bind import Binder
from vault_kg.extract.extractors.scoping.evaluate import Evaluator, Unbound
from vault_kg.extract.extractors.scoping.exports import exports_of
from vault_kg.extract.extractors.scoping.file import FileScopes
from vault_kg.extract.model import Edge, Extraction

_TESTING: Final = frozenset({"calls", "constructs", "dispatches"})


def finish(found: FileScopes, nodes: NodeList, unbound: Unbound, extractor: str) -> Extraction:
    """Return the extraction of a file whose walk is done.

    Args:
        found: what the walk collected.
        nodes: its nodes and what contains what.
        unbound: what the language says of names that no scope binds.
        extractor: the extractor's name.
    """
    evaluator = Evaluator(unbound)
    binder = Binder(found, evaluator, extractor)
    binder.run()
    edges = list(binder.edges.values())
    return Extraction(
        nodes.in_order(),
        [*nodes.edges, *edges, *_tests(found, nodes, edges)],
        list(binder.references.values()),
        exports_of(found, evaluator),
    )


def _tests(found: FileScopes, nodes: NodeList, edges: list[Edge]) -> Iterator[Edge]:
    """Give what tests that stand beside the code, in the same file, lead to."""
    if is_test_path(found.definitions.path):
        return
    tests = {node.uid for node in nodes.in_order() if "test" in node.roles}
    for edge in edges if tests else ():
        if edge.source in tests and edge.target not in tests and edge.kind in _TESTING:
            yield edge._replace(kind="tested_by")
