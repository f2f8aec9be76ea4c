"""Finish: the one terminal transaction, and what follows it.

finalize.py          final state, limits and budget settled, the last event
reconcile_usage.py   token counts that the upstream did not report
result.py            a whole answer as one body
"""
