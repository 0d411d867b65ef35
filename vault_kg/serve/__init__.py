"""The registry's operations over MCP and, later, a local socket.

Transport only: no rule of the product may live here.
"""
