"""The pages that open over a place, and the questions that the UI asks; one screen a module.

A page shows one thing and closes with escape. It must not know which place it was opened from.
"""
