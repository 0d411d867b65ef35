"""What a caller can ask: typed requests and results, and the one registry that lists them.

Every face (command line, MCP, socket, UI) goes through `registry.call`; an operation that is not in
the registry does not exist. No transport is known here.
"""
