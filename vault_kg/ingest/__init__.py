"""Ingestion: prose in, pages, claims and relationships that cite their lines out.

A language model proposes; everything it says is checked against the text and the vault before it is
planned, and a document is one plan of one journal entry. The model is asked before and outside the
write lane, in a process of its own or at an endpoint. Nothing here writes a file by itself, and
nothing that a document says can choose what is written where.
"""
