"""Chat completions that were asked for with `store: true`: read, listed, relabelled, deleted.

rows.py      what is stored, and every query for it
objects.py   as OpenAI shows them
"""
