"""Languages read through tree-sitter: one module each, over a walk that they share.

A language says which of its nodes are definitions, chains of names and bindings. The grammars are
separate packages; one that is not installed costs that language and no other.
"""
