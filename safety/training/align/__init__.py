"""Alignment of the default model with what people prefer, by DPO to a LoRA adapter.

- `model`       the GGUF as trainable weights, its chat template, answers in batches
- `examples`    preference pairs made whole: the model's own answer where a side is open
- `training`    DPO with trl and peft
- `evaluation`  preference margin, refusal of harm, helpfulness; before, after, and whether to keep
- `__main__`    `python -m safety.training.align`: all of it, and the report

Needs the optional group `safety-align`; nothing here runs in the product.
"""
