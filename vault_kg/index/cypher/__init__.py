"""The graph as Ladybug holds it for Cypher: one projection for each set of partitions, only read.

Owns its tables, its files beside the state, the process that runs the engine, and what a query may
say. What a projection holds is decided by who asks for one; a row that is not given is not there.
Files here are derived: deleted freely, rebuilt when damaged. Never take a lock of the vault here.
"""
