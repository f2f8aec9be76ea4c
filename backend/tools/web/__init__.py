"""The web as tools of the product: `search` and `fetch`.

providers.py   whom a search is sent to: SearXNG, Brave Search or Tavily
pages.py       one page's text, through the guard
calls.py       the two tools, and which pages may be opened

What comes back is untrusted content, as any tool's result.
"""
