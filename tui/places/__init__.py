"""The places between which the number keys switch; each is one module with one widget.

A place reads what it shows when it is first seen and again when something was written. It must not
change the vault, except by the few controls that its keys name.
"""
