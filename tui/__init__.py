"""The review UI: where a person sees what was written, why, from which source, and what waits.

It reaches the vault only through the operations, and of those that write only through the ones in
`desk.WRITES`; everything else is handed over to an agent as a request. It must never run a read on
the event loop, and never take text from records for markup.
"""
