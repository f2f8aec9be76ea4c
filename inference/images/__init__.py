"""Images of a request: bytes to pixels as a family's vision tower expects them, without torch.

    decode.py           a data URL to an image, within bounds
    settings.py         what a folder says of its image processor
    prepared.py         what an image becomes: text in the prompt, and pixels for its tokens
    qwen2_vl.py, ...    a file a family: sizes, tiles, the text that stands for an image
    registry.py         a line a family
    place.py            images into the text and the tokens of a prompt

It runs in the server process, in its threads for long work: the core gets pixels.
"""
