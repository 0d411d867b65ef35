"""Consolidation sessions: candidates are proposed, reconciled with what stands, and committed whole.

It owns the sessions' rules, their events and the reads over what they wrote. A session changes the
vault in one journal entry and nowhere else: that entry is the audit row and the event. The reserved
relationship types are the extractor's, and are never written here.
"""
