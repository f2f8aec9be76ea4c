"""An invoice as PDF, in its own language. Deterministic: the same document gives the same bytes."""

import io

from django.utils.translation import gettext, pgettext
from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Flowable, Paragraph, SimpleDocTemplate, Spacer, Table

from backend.platform.languages import day, is_right_to_left, locale, month, number, writing_in
from billing.invoices.fonts import draw, printable
from billing.invoices.layout import (
    GREY,
    INK,
    MODEL,
    PADDING,
    PAGE,
    PARTY,
    PROJECT,
    RULE,
    grey,
    labelled,
    paragraph,
    styles,
    table,
)
from billing.models import DocumentKind, Invoice, InvoiceLine, InvoiceStatus
from billing.rounding import figure


def invoice_pdf(invoice: Invoice) -> bytes:
    """The document, with a watermark where it is a draft or void."""
    output = io.BytesIO()
    with writing_in(invoice.language):
        document = SimpleDocTemplate(
            output,
            pagesize=A4,
            # Less the padding of reportlab's frame, so that text and tables share one edge.
            leftMargin=20 * mm - 6,
            rightMargin=20 * mm - 6,
            topMargin=20 * mm,
            bottomMargin=22 * mm,
            title=f"{_title(invoice)} {_number(invoice)}",
            author=invoice.seller.get("name", ""),
            lang=str(locale()).replace("_", "-"),
            invariant=1,
        )

        def decorate(canvas: Canvas, _: SimpleDocTemplate) -> None:
            _watermark(canvas, invoice)
            _footer(canvas, invoice)

        document.build(_story(invoice), onFirstPage=decorate, onLaterPages=decorate)
    return output.getvalue()


def _story(invoice: Invoice) -> list[Flowable]:
    style = styles()
    parts: list[Flowable] = [
        paragraph(_title(invoice), style.title),
        Spacer(1, 6 * mm),
        _parties(invoice),
        Spacer(1, 8 * mm),
    ]
    if invoice.kind == DocumentKind.CREDIT_NOTE:
        reason = gettext("Corrects invoice %(number)s: %(reason)s")
        facts = {"number": invoice.corrects, "reason": invoice.reason}
        parts += [paragraph(reason % facts, style.body)]
    else:
        parts += [_lines(invoice)]
    parts += [Spacer(1, 5 * mm), _sums(invoice)]
    if any(line.is_late for line in invoice.lines.all()):
        late = gettext("* Of an earlier month, recorded after that month was closed.")
        parts += [Spacer(1, 6 * mm), paragraph(late, style.small)]
    return parts


def _title(invoice: Invoice) -> str:
    if invoice.kind == DocumentKind.CREDIT_NOTE:
        return gettext("Credit note")
    return gettext("Invoice")


def _number(invoice: Invoice) -> str:
    draft = gettext("draft for %(month)s") % {"month": f"{invoice.period_start:%Y-%m}"}
    return invoice.reference or draft


def _parties(invoice: Invoice) -> Table:
    issued = day(invoice.issued_at) if invoice.issued_at else gettext("not yet")
    facts = [
        (pgettext("of a document", "Number"), _number(invoice)),
        (pgettext("of a document", "Period"), month(invoice.period_start)),
        (pgettext("of a document", "Issued"), issued),
    ]
    if invoice.due_at is not None and invoice.total > 0:
        facts.append((pgettext("of a document", "Due"), day(invoice.due_at)))
    about = "<br/>".join(labelled(label, value, PARTY) for label, value in facts)
    body = styles().body
    row: list[Flowable] = [
        Paragraph(_address(pgettext("of a document", "From"), invoice.seller), body),
        Paragraph(_address(pgettext("of a document", "To"), invoice.customer), body),
        Paragraph(about, body),
    ]
    widths = [PARTY + PADDING, PARTY + PADDING, PAGE - 2 * (PARTY + PADDING)]
    return table([row], widths)


def _address(heading: str, party: dict[str, str]) -> str:
    body = styles().body
    lines = [party.get("name", ""), *party.get("address", "").splitlines(), party.get("tax_id", "")]
    text = "<br/>".join(printable(line, body, PARTY) for line in lines if line.strip())
    return f"{grey(printable(heading, body, PARTY))}<br/>{text}"


def _lines(invoice: Invoice) -> Table:
    style = styles()
    figures = (
        pgettext("of a document", "Requests"),
        pgettext("tokens", "Input"),
        pgettext("tokens", "Output"),
        pgettext("money", "Amount"),
    )
    header: list[Flowable] = [
        paragraph(gettext("Project"), style.head),
        paragraph(gettext("Model"), style.head),
        *(paragraph(text, style.end_head) for text in figures),
    ]
    rows = [header, *(_line(line) for line in invoice.lines.order_by("position"))]
    widths = [PROJECT + PADDING, MODEL + PADDING, *(width * mm for width in (18.6, 22.6, 20, 22.8))]
    return table(
        rows,
        widths,
        ("LINEBELOW", (0, 0), (-1, 0), 0.8, INK),
        ("LINEBELOW", (0, 1), (-1, -1), 0.4, RULE),
        repeated=1,
    )


def _line(line: InvoiceLine) -> list[Flowable]:
    style = styles()
    name = gettext("Plan") if line.plan_period_id else line.project_name
    project = printable(name, style.body, PROJECT)
    if line.is_late:
        project = f"* {project}" if is_right_to_left() else f"{project} *"
        project += f"<br/>{_note(month(line.usage_month), PROJECT)}"
    model = printable(line.model, style.body, MODEL)
    if line.at_project_price:
        model += f"<br/>{_note(gettext('price of the project'), MODEL)}"
    figures = [number(n) for n in (line.requests, line.input_tokens, line.output_tokens)]
    return [
        Paragraph(project, style.body),
        Paragraph(model, style.body),
        *(Paragraph(text, style.end) for text in figures),
        Paragraph(number(line.amount, "#,##0.00####"), style.end),
    ]


def _note(text: str, width: float) -> str:
    return f"<font color='#6b6b6b' size='8'>{printable(text, styles().small, width)}</font>"


def _sums(invoice: Invoice) -> Table:
    style = styles()
    rows = [(gettext("Subtotal"), invoice.subtotal, style.end)]
    if invoice.credit_applied:
        rows.append((gettext("Prepaid credit"), -invoice.credit_applied, style.end))
    percent = number(invoice.tax_rate * 100, "0.##")
    rows.append((gettext("Tax %(percent)s %%") % {"percent": percent}, invoice.tax, style.end))
    total = gettext("Total %(currency)s") % {"currency": invoice.currency}
    rows.append((total, invoice.total, style.end_bold))
    return table(
        [
            [paragraph(label, style), Paragraph(figure(value, invoice.currency), style)]
            for label, value, style in rows
        ],
        [140 * mm, 30 * mm],
        ("LINEABOVE", (0, -1), (-1, -1), 0.8, INK),
    )


def _footer(canvas: Canvas, invoice: Invoice) -> None:
    canvas.setFillColor(GREY)
    page = gettext("Page %(number)d") % {"number": canvas.getPageNumber()}
    edges, anchors = (20 * mm, A4[0] - 20 * mm), (0, 1)
    texts = (f"{_title(invoice)} {_number(invoice)}", page)
    for x, anchor, text in zip(
        edges, anchors, reversed(texts) if is_right_to_left() else texts, strict=True
    ):
        draw(canvas, text, "Helvetica", 8, x=x, y=12 * mm, anchor=anchor)


def _watermark(canvas: Canvas, invoice: Invoice) -> None:
    marks = {
        InvoiceStatus.DRAFT: pgettext("invoice", "DRAFT"),
        InvoiceStatus.VOID: pgettext("invoice", "VOID"),
    }
    mark = marks.get(InvoiceStatus(invoice.status))
    if mark is None:
        return
    canvas.saveState()
    canvas.setFillColor(colors.HexColor("#ececec"))
    canvas.translate(A4[0] / 2, A4[1] / 2)
    canvas.rotate(35)
    draw(canvas, mark, "Helvetica-Bold", 90, x=0, y=0, anchor=0.5)
    canvas.restoreState()
