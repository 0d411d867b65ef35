"""What is derived and can be rebuilt: catalog, eligibility, full text, vectors, edges, scanning.

Dropping everything this folder wrote and running `vault-kg reindex` gives the same answers. It reads
vault files and never writes one.
"""
