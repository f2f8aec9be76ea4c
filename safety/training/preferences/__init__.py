"""Preference pairs: which of two answers to a prompt people want more.

- `pairs`     the pair, and how thumbs and review outcomes become pairs; pure
- `starting`  pairs of our own, for a product whose users have not said anything yet
- `__main__`  `python -m safety.training.preferences export`: out of the running product's database

`python -m safety.training.align` trains on them.
"""
