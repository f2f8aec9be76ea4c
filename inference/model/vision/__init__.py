"""Vision towers: images to what takes the place of their tokens' embeddings.

    pixels.py     normalised pixels, and the patches of an image
    attention.py  every patch attends to those of its group
    qwen.py       Qwen2.5-VL's: windows, positions by row and column
    siglip.py     SigLIP's, as Idefics3, LLaVA-OneVision and Gemma 3 have it

The file of an architecture says what its tensors are called and what joins tower and decoder.
"""
