"""Quantized matrices of Hugging Face folders, by the `quantization_config` of config.json.

    codes.py        integers with scales of their groups: to GGUF's blocks where those hold the
                    same numbers, else dense
    unpack.py       integers of few bits out of int32, and checks of shapes
    fp8.py          DeepSeek's blocks, one scale a matrix or a row
    awq.py, gptq.py, compressed.py    the formats of those names
    schemes.py      which of them a configuration speaks of; the rest is refused by name

A scheme says what the tensors of a matrix are called (`tensors`, after its name, without a dot) and
makes of them either `Codes` or a dense matrix in float32. What it reads is never rounded again,
but for scales that float16 does not hold, to 1 part in 2048.
"""
