"""Tools of the page: what an organization lets models call, and the calls of a chat's answers.

models.py       servers, their tools, who uses them, what was approved; rounds and calls
servers.py      an organization's MCP servers, as owners and admins set them
catalog.py      which tools a person's turn offers
definitions.py  what tools say of themselves: read for orders, held, allowed as it was seen
assistants.py   which tools an assistant names
python_tool.py  Python, which people's pages run: as models read it, and what it said
page_runs.py    a page claims a program, runs it, or leaves
rounds.py       from an answer's calls to the turn that goes on with their results
approvals.py    a person's decision about a call
waking.py       a round is looked at again
stopping.py     a person's stop of a turn whose tools are called
oauth/          signing in at servers; oauth_models.py has its tables
types.py        what all of it speaks of
web/            the web: search by an organization's provider, pages
mcp_client.py   a server over streamable HTTP: bounded, and never at a private address

The loop that carries rounds on is `backend/api/tool_rounds.py`: it starts generations.
"""
