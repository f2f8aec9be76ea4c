"""How good a model's answers are, as numbers, so that no speed is bought with them.

case.py          a prompt and the check of what is answered
instructions.py  does it do what the prompt asks of its form
arithmetic.py    sums, products, and small problems in words
structured.py    JSON, asked for in words and by a schema
ordinary.py      does it refuse what only sounds harmful
tools.py         does it call functions, and use what they give
"""
