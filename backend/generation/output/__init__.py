"""From an upstream's pieces to the client's events, without any I/O.

tally.py    which tokens the delivered text stands for
choice.py   one choice: text in, checked text out, with its token count
chunks.py   OpenAI's chunk objects as bytes
replay.py   the state of an answer, read back from its events
"""
