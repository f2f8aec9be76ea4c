"""Batches: many requests in one file, answered within a day at a price and a pace of their own.

- `rows`     made, listed, cancelled; as OpenAI shows them
- `validate` the input file becomes rows, a line each, a thousand at a time
- `lines`    which line is whose: claims with a lease, answers, what is tried again
- `answers`  one line answered, as its endpoint would
- `finish`   the output and error files, written from the rows; the webhook
- `loop`     does all of it in each web process, in places that nobody waits for

`validating -> in_progress -> finalizing -> completed | failed | expired | cancelled`. All of it is
in PostgreSQL, and any process takes over what another leaves: a generation has an id that follows
from batch, line and attempt, so it is begun once, billed once, and found again.
"""
