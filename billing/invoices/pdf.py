"""An invoice as PDF. Deterministic: the same document gives the same bytes, always."""

import io
from decimal import Decimal

from reportlab.lib import colors
from reportlab.lib.enums import TA_RIGHT
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Flowable, Paragraph, SimpleDocTemplate, Spacer, Table, TableStyle

from billing.invoices.fonts import printable
from billing.models import DocumentKind, Invoice, InvoiceLine, InvoiceStatus

INK, GREY, RULE = colors.HexColor("#171717"), colors.HexColor("#6b6b6b"), colors.HexColor("#dcdcdc")
BODY = ParagraphStyle("body", fontName="Helvetica", fontSize=9, leading=13, textColor=INK)
SMALL = ParagraphStyle("small", BODY, fontSize=8, leading=11, textColor=GREY)
RIGHT = ParagraphStyle("right", BODY, alignment=TA_RIGHT)
RIGHT_BOLD = ParagraphStyle("right-bold", RIGHT, fontName="Helvetica-Bold")
HEAD = ParagraphStyle("head", SMALL, fontName="Helvetica-Bold")
HEAD_RIGHT = ParagraphStyle("head-right", HEAD, alignment=TA_RIGHT)
TITLE = ParagraphStyle("title", BODY, fontName="Helvetica-Bold", fontSize=20, leading=26)

# What of a table's column a text may fill: reportlab pads each cell by 6 points on both sides.
PADDING = 12
PAGE, PARTY, PROJECT, MODEL = (
    170 * mm,
    60 * mm - PADDING,
    44 * mm - PADDING,
    42 * mm - PADDING,
)


def invoice_pdf(invoice: Invoice) -> bytes:
    """The document, with a watermark where it is a draft or void."""
    output = io.BytesIO()
    document = SimpleDocTemplate(
        output,
        pagesize=A4,
        # Less the padding of reportlab's frame, so that text and tables share one edge.
        leftMargin=20 * mm - 6,
        rightMargin=20 * mm - 6,
        topMargin=20 * mm,
        bottomMargin=22 * mm,
        title=f"{_title(invoice)} {invoice}",
        author=invoice.seller.get("name", ""),
        invariant=1,
    )

    def decorate(canvas: Canvas, _: SimpleDocTemplate) -> None:
        _watermark(canvas, invoice)
        canvas.setFont("Helvetica", 8)
        canvas.setFillColor(GREY)
        canvas.drawString(20 * mm, 12 * mm, f"{_title(invoice)} {invoice}")
        canvas.drawRightString(A4[0] - 20 * mm, 12 * mm, f"Page {canvas.getPageNumber()}")

    document.build(_story(invoice), onFirstPage=decorate, onLaterPages=decorate)
    return output.getvalue()


def _story(invoice: Invoice) -> list[Flowable]:
    parts: list[Flowable] = [
        Paragraph(_title(invoice), TITLE),
        Spacer(1, 6 * mm),
        _parties(invoice),
        Spacer(1, 8 * mm),
    ]
    if invoice.kind == DocumentKind.CREDIT_NOTE:
        reason = printable(f"Corrects invoice {invoice.corrects}: {invoice.reason}", BODY, PAGE)
        parts += [Paragraph(reason, BODY)]
    else:
        parts += [_lines(invoice)]
    parts += [Spacer(1, 5 * mm), _sums(invoice)]
    if any(line.is_late for line in invoice.lines.all()):
        parts += [
            Spacer(1, 6 * mm),
            Paragraph("* Of an earlier month, recorded after that month was closed.", SMALL),
        ]
    return parts


def _title(invoice: Invoice) -> str:
    return "Credit note" if invoice.kind == DocumentKind.CREDIT_NOTE else "Invoice"


def _parties(invoice: Invoice) -> Table:
    facts = [
        ("Number", str(invoice)),
        ("Period", f"{invoice.period_start:%B %Y}"),
        ("Issued", f"{invoice.issued_at:%Y-%m-%d}" if invoice.issued_at else "not yet"),
    ]
    if invoice.due_at is not None and invoice.total > 0:
        facts.append(("Due", f"{invoice.due_at:%Y-%m-%d}"))
    about = "<br/>".join(
        f"<font color='#6b6b6b'>{k}</font>&nbsp;&nbsp;{printable(v, BODY, PARTY)}" for k, v in facts
    )
    row = [
        Paragraph(_address("From", invoice.seller), BODY),
        Paragraph(_address("To", invoice.customer), BODY),
        Paragraph(about, BODY),
    ]
    table = Table(
        [row], colWidths=[PARTY + PADDING, PARTY + PADDING, 170 * mm - 2 * (PARTY + PADDING)]
    )
    table.setStyle(
        TableStyle([("VALIGN", (0, 0), (-1, -1), "TOP"), ("LEFTPADDING", (0, 0), (-1, -1), 0)])
    )
    return table


def _address(heading: str, party: dict[str, str]) -> str:
    lines = [party.get("name", ""), *party.get("address", "").splitlines(), party.get("tax_id", "")]
    text = "<br/>".join(printable(line, BODY, PARTY) for line in lines if line.strip())
    return f"<font color='#6b6b6b'>{heading}</font><br/>{text}"


def _lines(invoice: Invoice) -> Table:
    header = [
        Paragraph("Project", HEAD),
        Paragraph("Model", HEAD),
        *(Paragraph(text, HEAD_RIGHT) for text in ("Requests", "Input", "Output", "Amount")),
    ]
    rows: list[list[Paragraph]] = [header]
    rows += [_line(line) for line in invoice.lines.order_by("position")]
    table = Table(
        rows,
        colWidths=[
            PROJECT + PADDING,
            MODEL + PADDING,
            *(width * mm for width in (18, 23, 20, 23)),
        ],
        repeatRows=1,
    )
    table.setStyle(
        TableStyle(
            [
                ("LINEBELOW", (0, 0), (-1, 0), 0.8, INK),
                ("LINEBELOW", (0, 1), (-1, -1), 0.4, RULE),
                ("VALIGN", (0, 0), (-1, -1), "TOP"),
                ("LEFTPADDING", (0, 0), (0, -1), 0),
                ("RIGHTPADDING", (-1, 0), (-1, -1), 0),
            ]
        )
    )
    return table


def _line(line: InvoiceLine) -> list[Paragraph]:
    project = printable(line.project_name, BODY, PROJECT)
    if line.is_late:
        project += f" *<br/><font color='#6b6b6b' size='8'>{line.usage_month:%B %Y}</font>"
    model = printable(line.model, BODY, MODEL)
    if line.at_project_price:
        model += "<br/><font color='#6b6b6b' size='8'>price of the project</font>"
    amount = f"{line.amount:,.6f}".rstrip("0")
    whole, _, cents = amount.partition(".")
    return [
        Paragraph(project, BODY),
        Paragraph(model, BODY),
        Paragraph(f"{line.requests:,}", RIGHT),
        Paragraph(f"{line.input_tokens:,}", RIGHT),
        Paragraph(f"{line.output_tokens:,}", RIGHT),
        Paragraph(f"{whole}.{cents:0<2}", RIGHT),
    ]


def _sums(invoice: Invoice) -> Table:
    rows = [("Subtotal", invoice.subtotal, RIGHT)]
    if invoice.credit_applied:
        rows.append(("Prepaid credit", -invoice.credit_applied, RIGHT))
    percent = f"{(invoice.tax_rate * 100).normalize():f}"
    rows.append((f"Tax {percent} %", invoice.tax, RIGHT))
    rows.append((f"Total {invoice.currency}", invoice.total, RIGHT_BOLD))
    table = Table(
        [
            [Paragraph(label, style), Paragraph(_money(value), style)]
            for label, value, style in rows
        ],
        colWidths=[140 * mm, 30 * mm],
    )
    table.setStyle(
        TableStyle(
            [
                ("LINEABOVE", (0, -1), (-1, -1), 0.8, INK),
                ("RIGHTPADDING", (-1, 0), (-1, -1), 0),
            ]
        )
    )
    return table


def _money(value: Decimal) -> str:
    return f"{value:,.2f}"


def _watermark(canvas: Canvas, invoice: Invoice) -> None:
    if invoice.status not in (InvoiceStatus.DRAFT, InvoiceStatus.VOID):
        return
    canvas.saveState()
    canvas.setFillColor(colors.HexColor("#ececec"))
    canvas.setFont("Helvetica-Bold", 90)
    canvas.translate(A4[0] / 2, A4[1] / 2)
    canvas.rotate(35)
    canvas.drawCentredString(0, 0, invoice.status.upper())
    canvas.restoreState()
