"""How documents look: styles, widths, and tables that run as their language does.

Arabic is read from the right: paragraphs begin at the right edge, and the first column of a table
is its rightmost one.
"""

from dataclasses import dataclass
from functools import cache

from reportlab.lib import colors
from reportlab.lib.enums import TA_LEFT, TA_RIGHT
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.platypus import Flowable, Paragraph, Table, TableStyle

from backend.platform.languages import is_right_to_left
from billing.invoices.fonts import printable

INK, GREY, RULE = colors.HexColor("#171717"), colors.HexColor("#6b6b6b"), colors.HexColor("#dcdcdc")
# What of a table's column a text may fill: reportlab pads each cell by 6 points on both sides.
PADDING = 12
PAGE, PARTY, PROJECT, MODEL = (
    170 * mm,
    60 * mm - PADDING,
    44 * mm - PADDING,
    42 * mm - PADDING,
)


@dataclass(frozen=True, slots=True)
class Styles:
    """Paragraphs that begin where lines do, and (`end`) figures, which end where lines do."""

    body: ParagraphStyle
    small: ParagraphStyle
    head: ParagraphStyle
    title: ParagraphStyle
    end: ParagraphStyle
    end_bold: ParagraphStyle
    end_head: ParagraphStyle


def styles() -> Styles:
    """Of the language that is written in."""
    return _styles(is_right_to_left())


@cache
def _styles(right_to_left: bool) -> Styles:
    start, end = (TA_RIGHT, TA_LEFT) if right_to_left else (TA_LEFT, TA_RIGHT)
    body = ParagraphStyle(
        "body", fontName="Helvetica", fontSize=9, leading=13, textColor=INK, alignment=start
    )
    small = ParagraphStyle("small", body, fontSize=8, leading=11, textColor=GREY)
    head = ParagraphStyle("head", small, fontName="Helvetica-Bold")
    at_end = ParagraphStyle("end", body, alignment=end)
    return Styles(
        body=body,
        small=small,
        head=head,
        title=ParagraphStyle("title", body, fontName="Helvetica-Bold", fontSize=20, leading=26),
        end=at_end,
        end_bold=ParagraphStyle("end-bold", at_end, fontName="Helvetica-Bold"),
        end_head=ParagraphStyle("end-head", head, alignment=end),
    )


BODY = _styles(False).body


def paragraph(text: str, style: ParagraphStyle, width: float = PAGE) -> Paragraph:
    """Of plain text; `width` as for `printable`."""
    return Paragraph(printable(text, style, width), style)


def grey(markup: str) -> str:
    return f"<font color='#6b6b6b'>{markup}</font>"


def labelled(label: str, value: str, width: float) -> str:
    """A fact in one line, as markup: its label stands where lines begin."""
    body = styles().body
    parts = [grey(printable(label, body, width)), printable(value, body, width)]
    return "&nbsp;&nbsp;".join(reversed(parts) if is_right_to_left() else parts)


def table(
    rows: list[list[Flowable]],
    widths: list[float],
    *commands: tuple[object, ...],
    repeated: int = 0,
) -> Table:
    """Its outer edges are those of the text.

    Args:
        rows, widths: in the order in which they are read.
        commands: of reportlab's TableStyle, which name whole rows.
        repeated: how many of the first rows are repeated on each page.
    """
    if is_right_to_left():
        rows, widths = [row[::-1] for row in rows], widths[::-1]
    made = Table(rows, colWidths=widths, repeatRows=repeated)
    edges = [
        ("VALIGN", (0, 0), (-1, -1), "TOP"),
        ("LEFTPADDING", (0, 0), (0, -1), 0),
        ("RIGHTPADDING", (-1, 0), (-1, -1), 0),
    ]
    made.setStyle(TableStyle([*commands, *edges]))
    return made
