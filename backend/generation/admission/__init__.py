"""Admit: what stands between a request and its generation.

shed.py           refuses before Django what has no chance of a place
queue.py          who gets the next free place at a replica; bounded, fair by plan and age
shared_queue.py   the same for all web processes, in Redis;  queue_script.py: one round of it
allowed.py        whether the caller's role and project allow this model
estimate.py       tokens of a prompt before it has been tokenized
rate_limits.py    requests and tokens a minute, concurrency; the `x-ratelimit-*` headers
scopes.py         which of them bind a caller;  script.py: the Lua script that charges all at once
prompt_check.py   the pre-classifier;  images.py: what it is asked about images
image_text.py     the text in images, for models that cannot see
prompt_text.py    the text of a prompt that came as token ids
outage.py         the stored answer that is left while no model can serve
pipeline.py       the steps in their order, each with how it is undone
"""
