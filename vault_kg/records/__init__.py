"""What a record is: models, the Markdown codec, names, links, passages and the ontology.

Pure code: no file, database or clock is touched here, and nothing outside this folder is imported
but `vault_kg.errors`.
"""
