"""The labelled code is read and never run."""

collect_ignore = ["tree"]
