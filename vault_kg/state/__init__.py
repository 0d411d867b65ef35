"""`state.sqlite`: its connection, its migrations, and one module of small functions for each table.

Durable SQL is written here and nowhere else. A function is named for the question it answers; no
caller sees a cursor. Nothing here reads or writes a vault file.
"""
