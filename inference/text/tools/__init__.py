"""Tool calls in the text of a model: how each family writes them, hears of tools, and is held.

- `formats`  the families, one a line, and how a template tells which it is
- `grammar`  what may be sampled: every call in its family's form, arguments by the tool's schema
- `parser`   sampled text to content and calls, while it streams
- `bare`     calls as JSON without the family's marks, where small models write them so
- `json_end` where their arguments end
- `parts`    what that is
- `python`   the same for the family that writes calls as Python
- `prompt`   messages and tools for the model's own chat template, or for one that knows no tools

The server (`inference/server/tools.py`) is the only caller.
"""
