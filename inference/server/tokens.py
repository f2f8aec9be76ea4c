"""POST /tokenize and /detokenize, in vLLM's shapes."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from inference.errors import InvalidRequestError
from inference.server.http import json_response, read_body
from inference.server.prompts import encode, render_prompt
from inference.server.schemas import DetokenizeRequest, TokenizeRequest
from inference.server.state import ServerState
from inference.server.tools import shown_tools


async def tokenize(request: Request) -> Response:
    state: ServerState = request.app.state.server
    body = await read_body(request, TokenizeRequest)
    state.adapters.find(body.model)
    if (body.prompt is None) == (body.messages is None):
        raise InvalidRequestError("give either prompt or messages", param="prompt")
    if body.messages is not None:
        if not body.messages:
            raise InvalidRequestError("messages is empty", param="messages")
        rendered = await render_prompt(
            state,
            body.messages,
            add_generation_prompt=body.add_generation_prompt and not body.continue_final_message,
            continue_final_message=body.continue_final_message,
            tools=shown_tools(body.tools) if body.tools else None,
        )
        tokens = rendered.token_ids
    else:
        text = body.prompt or ""
        tokens = await encode(state, text, add_special_tokens=body.add_special_tokens)
    answer: dict[str, object] = {
        "count": len(tokens),
        "max_model_len": state.model_info.max_model_len,
        "tokens": tokens,
    }
    if body.return_token_strs:
        answer["token_strs"] = [
            state.tokenizer.token_bytes(token).decode("utf-8", "replace") for token in tokens
        ]
    return json_response(answer, headers=request.state.headers)


async def detokenize(request: Request) -> Response:
    state: ServerState = request.app.state.server
    body = await read_body(request, DetokenizeRequest)
    state.adapters.find(body.model)
    state.check_token_ids(body.tokens, "tokens")
    answer = {"prompt": state.tokenizer.decode_prompt(body.tokens)}
    return json_response(answer, headers=request.state.headers)
