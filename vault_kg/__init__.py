"""vault-kg: a knowledge store of Markdown records in Git.

Truth is a folder of Markdown files that a person can edit in any editor; safety (revisions, guards,
merges, accepted requests) is kept in one `state.sqlite` beside it. Imports point one way:
records <- state <- store <- index <- operations <- serve, cli, tui.
"""

__version__ = "0.1.0"
