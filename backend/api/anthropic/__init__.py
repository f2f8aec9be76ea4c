"""Anthropic's Messages API, on the same generations as chat completions.

- `messages` a body as a chat, an answer as content blocks
- `shape`    the message object, and its events
- `errors`   errors in Anthropic's shape

Source: Anthropic API reference, "Messages", "Streaming messages", "Errors", and the types of the
official Python client.
"""
