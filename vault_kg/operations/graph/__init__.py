"""The graph family: the service seed's methods over pages, relationships and sources.

Owns the seed's words (entity, edge, episode, group) and their translation into records. Nothing is
stored here that a record, the journal or the state does not hold.
"""
