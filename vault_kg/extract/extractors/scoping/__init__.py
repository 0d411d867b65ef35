"""Names and what they are bound to, in any language with lexical scopes.

A language's walk fills `FileScopes`; what is here leads every use back to a binding and makes edges,
references and exports of it. Nothing here knows a syntax.
"""
