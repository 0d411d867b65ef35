"""Chores: maintenance in a unit that fits a working day. One kind of work, one or two pages.

The server chooses what is to be done and prepares what an agent cannot see; the agent does it with
the kg_* tools. Nothing here changes a page, and nothing is dispatched that a person did not enable.
"""
