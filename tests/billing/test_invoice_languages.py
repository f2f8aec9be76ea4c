"""A document is in the language of who pays, and stays in the one that it was drafted in."""

import io
import unicodedata
from decimal import Decimal
from typing import Any

import pytest
from pypdf import PdfReader

from backend.accounts.models import Project, User
from backend.platform.errors import InvalidRequest
from billing.details import billing_details_set
from billing.invoices.pdf import invoice_pdf
from billing.invoices.services import credit_note_create
from billing.models import BillingAccount, Invoice
from billing.prices.services import prices_seed
from tests.billing import factories
from tests.billing.invoicing import NOW, PRICES, close, issue, use
from tests.support.languages import in_languages

pytestmark = pytest.mark.django_db

LABELS = {
    "en": "Invoice Number Period Issued Due From To Project Model Requests Subtotal Total Page",
    "de": "Rechnung Nummer Zeitraum Ausgestellt Fällig Projekt Modell Anfragen Zwischensumme Seite",
    "fr": "Facture Numéro Période Échéance Projet Modèle Requêtes Sous-total Taxe Page",
    "es": "Factura Número Periodo Vencimiento Proyecto Modelo Llamadas Impuesto Página",
    "pt": "Fatura Número Período Vencimento Projeto Modelo Chamadas Imposto Página",
    "ja": "請求書 番号 期間 発行日 支払期日 プロジェクト モデル 件数 小計 税 合計 ページ",
    "zh-CN": "发票 编号 期间 开具日期 到期日 项目 模型 请求数 小计 税 总计",
    "ar": "فاتورة الرقم الفترة المشروع النموذج الطلبات المبلغ الضريبة صفحة",
}
AMOUNTS = {
    "de": ("617,285", "117,29", "734,58"),
    "fr": ("617,285", "117,29", "734,58"),
    "es": ("617,285", "117,29", "734,58"),
    "pt": ("617,285", "117,29", "734,58"),
}


@pytest.fixture
def caller() -> Any:
    prices_seed(prices=PRICES)
    caller = factories.principal()
    BillingAccount.objects.create(
        organization_id=caller.organization_id, tax_rate=Decimal("0.19"), legal_name="Acme"
    )
    return caller


def text_of(pdf: bytes) -> str:
    """What a reader of PDF takes out of it; joined Arabic letters are single ones again."""
    pages = PdfReader(io.BytesIO(pdf)).pages
    return unicodedata.normalize("NFKC", " ".join(page.extract_text() for page in pages))


def embedded_fonts(pdf: bytes) -> set[str]:
    """Names of the fonts whose glyphs are in the document."""
    found = set()
    for page in PdfReader(io.BytesIO(pdf)).pages:
        fonts: Any = page["/Resources"]
        for font in fonts["/Font"].values():
            if "/FontDescriptor" in font and "/FontFile2" in font["/FontDescriptor"]:
                found.add(str(font["/BaseFont"]).partition("+")[2])
    return found


@in_languages("tests/billing/test_invoice_languages.py::test_invoice_is_in_its_language")
def test_invoice_is_in_its_language(caller: Any, tag: str) -> None:
    billing_details_set(principal=caller, changes={"language": tag})
    use(caller, 123_457)
    pdf = invoice_pdf(issue(caller))
    text = text_of(pdf)
    for label in LABELS[tag].split():
        assert label in text or label[::-1] in text, (label, text)
    if tag != "en":
        english = set(LABELS["en"].split()) - set(LABELS[tag].split()) - {"Subtotal", "Total"}
        assert not english & set(text.split())
    for amount in AMOUNTS.get(tag, ("617.285", "117.29", "734.58")):
        assert amount in text
    fonts = {"ja": "NotoSansJP", "zh-CN": "NotoSansSC", "ar": "NotoSansArabic"}
    assert (tag in fonts) == any(fonts.get(tag, "-") in name for name in embedded_fonts(pdf))


def test_arabic_document_runs_from_right_to_left(caller: Any) -> None:
    billing_details_set(principal=caller, changes={"language": "ar"})
    use(caller, 123_457)
    places: dict[str, float] = {}

    def visit(text: str, _: Any, matrix: list[float], *__: Any) -> None:
        for word in unicodedata.normalize("NFKC", text).split():
            places.setdefault(word, matrix[4])

    PdfReader(io.BytesIO(invoice_pdf(issue(caller)))).pages[0].extract_text(visitor_text=visit)
    project, amount = (
        next(x for found, x in places.items() if word in (found, found[::-1]))
        for word in ("المشروع", "المبلغ")
    )
    assert project > amount  # the first column is the rightmost


def test_issued_document_keeps_its_language_and_so_does_its_correction(caller: Any) -> None:
    User.objects.filter(pk=caller.user_id).update(language="de")
    use(caller, 2000)
    invoice = issue(caller)
    before = invoice_pdf(invoice)
    billing_details_set(principal=caller, changes={"language": "ja"})
    assert invoice_pdf(Invoice.objects.get(pk=invoice.pk)) == before
    note = credit_note_create(invoice_id=invoice.pk, amount=Decimal(4), reason="Ausfall", now=NOW)
    assert f"Berichtigt Rechnung {invoice}: Ausfall" in text_of(invoice_pdf(note))


@in_languages(
    "tests/billing/test_invoice_languages.py::test_draft_of_many_pages_has_its_mark_on_each"
)
def test_draft_of_many_pages_has_its_mark_on_each(caller: Any, tag: str) -> None:
    billing_details_set(principal=caller, changes={"language": tag})
    for number in range(60):
        project = Project.objects.create(
            organization_id=caller.organization_id, name=f"東京 {number} مشروع"
        )
        use(caller, 100, project_id=project.pk)
    mark = {"en": "DRAFT", "de": "ENTWURF", "ja": "下書き", "zh-CN": "草稿", "ar": "مسودة"}.get(
        tag, "R"
    )
    pages = PdfReader(io.BytesIO(invoice_pdf(close(caller)))).pages
    assert len(pages) > 1
    for page in pages:
        text = unicodedata.normalize("NFKC", page.extract_text())
        assert mark in text or mark[::-1] in text


def test_language_that_no_catalogue_has_is_refused(caller: Any) -> None:
    with pytest.raises(InvalidRequest) as refused:
        billing_details_set(principal=caller, changes={"language": "tlh"})
    assert refused.value.param == "language"
    billing_details_set(principal=caller, changes={"language": ""})
