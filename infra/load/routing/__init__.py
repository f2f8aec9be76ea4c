"""Routing on one trace of conversations: `python -m infra.load.routing`.

trace.py        the conversations
engines.py      the engines, and how many answers each has given
routers.py      sglang-router and vllm-router before them (`make bench-routers`, routers.txt)
conversing.py   holds the conversations, and counts
table.py        the command
"""
