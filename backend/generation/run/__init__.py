"""Run: one generation in its task, from the upstream's chunks to the client's events.

active.py             a generation that runs in this process
task.py               its task, from the first place in the queue to its end
attempts.py           one replica after another until one has given the whole answer
output.py             one choice: text in, checked text out, with its token count
token_accounting.py   which tokens the delivered text stands for
chunk_encoder.py      OpenAI's chunk objects as bytes;  events.py: puts them into the log
outcome.py            why it ends;  replay.py: the state of an answer, read back from its events
"""
