"""What the generating routes answer with, for the OpenAPI document.

The bodies are built by the gateway (`Completion.as_openai`) and sent as they are; these only
describe them.
"""

from typing import Any

_ERROR = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["message", "type", "code", "param"],
            "properties": {
                "message": {"type": "string"},
                "type": {"type": "string"},
                "code": {"type": ["string", "null"]},
                "param": {"type": ["string", "null"]},
            },
        }
    },
}
ERROR_RESPONSE = {
    "description": "An error, in OpenAI's shape.",
    "content": {"application/json": {"schema": _ERROR}},
}
_STREAM = {
    "text/event-stream": {
        "schema": {"type": "string", "description": "One chunk object an event, then [DONE]."}
    }
}
_USAGE = {
    "type": "object",
    "properties": {
        "prompt_tokens": {"type": "integer"},
        "completion_tokens": {"type": "integer"},
        "total_tokens": {"type": "integer"},
    },
}
_COMPLETION = {
    "type": "object",
    "required": ["id", "object", "created", "model", "choices", "usage"],
    "properties": {
        "id": {"type": "string"},
        "object": {"type": "string"},
        "created": {"type": "integer"},
        "model": {"type": "string"},
        "choices": {"type": "array", "items": {"type": "object"}},
        "usage": _USAGE,
    },
}

GENERATION_RESPONSES: dict[str, Any] = {
    "openapi_extra": {
        "responses": {
            200: {
                "description": "The answer, or its stream.",
                "content": {"application/json": {"schema": _COMPLETION}, **_STREAM},
            }
        }
    }
}
EVENT_STREAM_RESPONSE: dict[str, Any] = {
    "openapi_extra": {"responses": {200: {"description": "The stream.", "content": _STREAM}}}
}
_RESPONSE = {
    200: {
        "description": "The response, or its events.",
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "required": ["id", "object", "created_at", "status", "output"],
                    "properties": {
                        "id": {"type": "string"},
                        "object": {"type": "string"},
                        "created_at": {"type": "integer"},
                        "status": {"type": "string"},
                        "output": {"type": "array", "items": {"type": "object"}},
                    },
                }
            },
            "text/event-stream": {
                "schema": {
                    "type": "string",
                    "description": "One event of a response each, its end last.",
                }
            },
        },
    }
}
RESPONSE_CREATED: dict[str, Any] = {"openapi_extra": {"responses": _RESPONSE}}
"""Of the route that generates."""
RESPONSE_READ: dict[str, Any] = {"openapi_extra": {"responses": _RESPONSE}}
