"""Where the name of a module leads in a tree of files, by the rules of each language.

They answer from the paths that the graph knows, never from the disk, an environment or a build file
that would have to be run.
"""
