"""The derived graph of code, documents and configuration: what stands in the files, never more.

It mirrors the working tree of the folders it is given: what left the tree is gone from it, and Git
remembers. Everything here can be deleted and made again; nothing here writes a file of a vault, and
SQL is written in `backends` only.
"""
