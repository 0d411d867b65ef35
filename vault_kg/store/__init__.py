"""Where truth lives: vault files, the journal that changes them, evidence, and the Git history.

Every change of a record file goes through `journal`; nothing may be written around it, and nothing
here decides what a caller may see.
"""
