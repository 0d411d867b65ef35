"""Configuration files: their keys, and the code that their values name.

One node for each key, however often a file or a list repeats it; a key inside the items of a list
goes by the list's name and `[]`, never by a number.
"""
