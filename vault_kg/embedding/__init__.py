"""Local embeddings: the model files, and the worker process that turns text into vectors.

The native library is loaded in the worker only, so that a crash or a hang there costs the semantic
half of a search and nothing else. Nothing here knows what a record is.
"""
