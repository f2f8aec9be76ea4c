"""Text as an image, for attacks that OCR reads."""

import base64
import io
import textwrap

from PIL import Image, ImageDraw, ImageFont

_WIDTH, _LINE, _COLUMNS = 1_200, 44, 60


def drawn(text: str) -> str:
    """A data URL of a white page with `text` in black."""
    lines = textwrap.wrap(text, _COLUMNS) or [""]
    page = Image.new("RGB", (_WIDTH, _LINE * (len(lines) + 2)), "white")
    draw, font = ImageDraw.Draw(page), ImageFont.load_default(32)
    for row, line in enumerate(lines):
        draw.text((40, _LINE * (row + 1)), line, fill="black", font=font)
    target = io.BytesIO()
    page.save(target, "PNG")
    return f"data:image/png;base64,{base64.b64encode(target.getvalue()).decode()}"
