"""The HTTP and WebSocket interface of the product.

Where things are:

- `application.py`   the ninja application: routers, OpenAPI, one error mapping
- `routes/`          one file a resource; validates, calls a service, serialises
- `schemas/`         what goes in and out, apart from the routes
- `authentication.py` bearer keys, sessions with CSRF, scopes
- `errors.py`        every exception to OpenAI's error object, in one place
- `parsing.py`       strict JSON
- `sse.py`           the one encoder of server-sent events
- `openai_requests.py` from OpenAI's body to a GenerationRequest; `turns.py`: from a stored turn
- `generations.py`   a generation as an HTTP answer, streamed or whole
- `whole_answers.py` embeddings and reranking, answered at once
- `stored_chats/`    chat completions with `store: true`; `responses/`, `files/`, `batches/`
- `idempotency.py`   `Idempotency-Key`, with its table in `models.py`
- `throttling.py`    sign-in and sign-up attempts
- `response_headers.py` headers added and read as Django keeps them
- `middleware.py`    request context, security headers, async session, CSRF and user
- `asgi.py`          limits that must hold before a body is read
- `views.py`         the page, the API reference; `websocket.py`, `health.py`, `metrics.py`
"""
