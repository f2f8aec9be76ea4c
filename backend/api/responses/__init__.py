"""OpenAI's Responses API, on the same generations as chat completions.

- `items`   input items as a chat's messages, an answer as output items
- `objects` the `response` object
- `events`  a chat's chunks as Responses events
- `rows`    what is stored of a response: its input, its parameters, what it follows

A response's id is its generation's: `resp_` and 32 hexadecimal digits.
"""
