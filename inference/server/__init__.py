"""The engine's HTTP surface: OpenAI's and vLLM's names, so that either can stand in.

app.py          routes, start and end of the server
schemas.py      request bodies, validated by msgspec
state.py        what all handlers share; admission of requests
prepare.py      a body to what is run: prompts, sampling parameters, structure
generation.py   its sequences at the engine, their deltas merged
choice_text.py  tokens to the text of one: detokenizer, stop strings, loops
chat.py, completions.py, embeddings.py, tokens.py   one endpoint family each
http.py         reading bodies, disconnects, the one SSE encoder, errors to HTTP
metrics.py      Prometheus, under vLLM's names where they exist
"""
