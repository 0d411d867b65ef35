"""The `graph_*` operations: what a caller asks of the derived graph, all of toolset `code`.

They ask the graph through `GraphReader` only, whichever backend answers, and say in `data.meta` what
an answer rests on: an empty result is an answer, every list has its true total, and a name that was
only guessed is reported as such.
"""
