"""Chores: maintenance in a unit that fits a working day. One kind of work, one or two pages.

The server chooses what is to be done and prepares what an agent cannot see; the agent does it with
the kg_* tools. Nothing here changes a page. Neither a chore nor a pass is dispatched before a person
enables them in `vault.toml`, or asks for one by force, which is an administrator's to do.
"""
