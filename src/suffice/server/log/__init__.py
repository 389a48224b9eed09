"""Learned rows on disk: a change is in a log before it is acknowledged, and snapshots keep the log short.

docs/decisions/0022-learned-rows-on-disk.md has the reasons.
"""
