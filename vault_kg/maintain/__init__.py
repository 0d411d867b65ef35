"""Maintenance: the kg_* tools over pages, the debt of a graph, its archive, and the memory of passes.

A node is a page, its id the page's slug, a level a partition. Usage lives in state: reading never
changes a file. Every change is a plan of the journal, made of what `operations` offers; nothing here
deletes a record, calls a model or the network, or decides what only a person or an agent can judge.
"""
