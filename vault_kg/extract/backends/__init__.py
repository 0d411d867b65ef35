"""Where the derived graph is kept: one protocol, SQLite for use, memory for comparison and trials.

SQL is written here and nowhere else of the package, and no answer shows any. A backend stores and
finds; what a file's nodes become when it changes is decided in `filing`, once for all backends.
"""
