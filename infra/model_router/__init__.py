"""The workshop of the model router: what `backend/generation/admission/difficulty.json` is made of.

prompts.py   prompts of many kinds, each with a check by program
collect.py   asks both models, and keeps who was right (answers.json)
train.py     fits the weights, and prints accuracy and savings on kinds that were not learnt from

`python -m infra.model_router` trains from the kept answers; `--collect SMALL LARGE` asks anew.
Nothing that serves imports it.
"""
