"""The parts of a record's page: what is described, what is read when a part is looked at.

Each part only shows; changes are asked of the page that holds it.
"""
