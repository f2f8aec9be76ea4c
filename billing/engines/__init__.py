"""What engines cost: their hours, noted as they announce them, and what a model cost by them.

hours.py   an engine's own counters into rows, one an hour
costs.py   the rows of a period, by model
"""
