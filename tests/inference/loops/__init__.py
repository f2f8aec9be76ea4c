"""Answers that repeat themselves: those that must never be cut, and those that must be.

honest.py    answers with every reason to repeat themselves
real.jsonl   loops that a small model went into, greedy; collect.py writes the file
"""
