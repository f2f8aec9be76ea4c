"""Draft tokens: proposed cheaply, verified by the step that computes the next token anyway.

speculator.py     for whom, how many, and what came of it
forced_tokens.py  from a grammar that leaves no choice
predicted_text.py from what the client expects
prompt_lookup.py  from the text so far
draft_model.py    from a smaller model
"""
