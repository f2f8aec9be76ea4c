"""Signing in at tool servers: OAuth 2.1, as the protocol's authorization specification says.

discovery.py     from a server's URL to its authorization server (RFC 9728, RFC 8414)
clients.py       who we are there: registered by ourselves (RFC 7591), or given by a manager
exchange.py      what is said to it: the address of a sign-in (PKCE, RFC 8707), codes, refreshing
connections.py   rows: who is connected, as whom, with which tokens
tokens.py        the token for a request, refreshed by one process at a time
errors.py        what went wrong

A sign-in that has begun stands in the browser's session (`backend/api/tool_sign_in.py`). Everything
is fetched by the guarded client of tools: no private address, small answers, no redirects.

Source: Model Context Protocol, revision 2025-11-25, "Authorization".
"""
