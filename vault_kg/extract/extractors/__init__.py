"""One module or folder for each language: from the bytes of a file to its nodes and references.

An extractor is a pure function of path and content. It reads no other file, no clock and no setting,
never runs what it reads, and leaves what needs the rest of the tree to `resolve`.
"""
