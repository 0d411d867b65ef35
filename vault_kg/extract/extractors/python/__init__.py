"""Python by its own `ast`: scopes as Python has them, types as far as a file states them.

A file is walked once, which collects bindings and uses by scope, and every use is then led back to
what its first name is bound to. No recursion follows the depth of the source.
"""
