"""Mails reach a real SMTP server, with login and TLS, and are tried again when it is away."""

import ssl
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from email import message_from_string
from email.message import EmailMessage
from email.policy import default
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from django.core.mail import send_mail
from django.db import transaction
from django.utils import timezone
from prometheus_client import REGISTRY

from backend.accounts.mail import (
    RETRY_AFTER,
    Attachment,
    mail_attachment,
    mail_queue,
    mail_text,
    mails_count,
    mails_delete,
    mails_send,
)
from backend.accounts.models import Mail, MailState
from backend.accounts.services import clean_email
from backend.platform.errors import InvalidRequest
from infra.services.ports import free_port

pytestmark = pytest.mark.django_db(transaction=True)

SECRET = "http://127.0.0.1/reset-password#opens-an-account"


class Mailbox:
    """What the server has taken; `refusal` is what it answers instead."""

    def __init__(self) -> None:
        self.taken: list[tuple[list[str], str]] = []
        self.refusal: str | None = None

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        if self.refusal is not None:
            return self.refusal
        self.taken.append((envelope.rcpt_tos, envelope.content.decode()))
        return "250 OK"


def _certificate(directory: Path) -> tuple[Path, ssl.SSLContext]:
    """For 127.0.0.1, signed by itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    file = directory / "certificate.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM) + private)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return file, context


@pytest.fixture
def mailbox() -> Mailbox:
    return Mailbox()


@pytest.fixture
def start_server(
    mailbox: Mailbox, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[], Controller]]:
    """An SMTP server that takes mail after STARTTLS and the right login; settings name it."""
    file, context = _certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "localhost", free_port()
    settings.EMAIL_HOST_USER, settings.EMAIL_HOST_PASSWORD = "parley", "right"
    settings.EMAIL_USE_TLS, settings.EMAIL_USE_SSL = True, False

    def authenticator(
        server: SMTP, session: Any, envelope: Any, mechanism: str, data: Any
    ) -> AuthResult:
        right = isinstance(data, LoginPassword) and data == LoginPassword(b"parley", b"right")
        return AuthResult(success=right, handled=False)

    running: list[Controller] = []

    def start() -> Controller:
        controller = Controller(
            mailbox,
            hostname="localhost",
            port=settings.EMAIL_PORT,
            tls_context=context,
            require_starttls=True,
            auth_required=True,
            authenticator=authenticator,
        )
        controller.start()
        running.append(controller)
        return controller

    yield start
    for controller in running:
        controller.stop()


def queue() -> None:
    mail_queue(to="ada@example.org", kind="test", subject="A link", text=SECRET)


def test_file_goes_with_a_mail_encrypted_until_it_is_sent(
    mailbox: Mailbox, start_server: Callable[[], Controller]
) -> None:
    start_server()
    pdf = b"%PDF \x00\x1e\xff"
    file = Attachment("INV-000001.pdf", pdf)
    mail_queue(to="ada@example.org", kind="invoice", subject="x", text="Text", attachment=file)
    stored = Mail.objects.get()
    assert (mail_text(stored), mail_attachment(stored)) == ("Text", file)
    assert mails_send() == 1
    [(_, content)] = mailbox.taken
    message = message_from_string(content, policy=default)
    assert isinstance(message, EmailMessage)
    [sent] = message.iter_attachments()
    assert (sent.get_filename(), sent.get_content_type()) == (file.name, "application/pdf")
    assert sent.get_content() == pdf
    body = message.get_body()
    assert body is not None and body.get_content().strip() == "Text"
    stored.refresh_from_db()
    assert (stored.ciphertext, mail_attachment(stored)) == ("", None)


def due_now() -> None:
    Mail.objects.filter(state=MailState.QUEUED).update(due_at=timezone.now())


def test_mail_is_sent_by_tls_after_login_and_its_text_is_gone_then(
    mailbox: Mailbox, start_server: Callable[[], Controller]
) -> None:
    start_server()
    queue()
    stored = Mail.objects.get()
    assert SECRET not in stored.ciphertext and mail_text(stored) == SECRET
    assert mails_send() == 1
    [(to, content)] = mailbox.taken
    assert to == ["ada@example.org"] and "opens-an-account" in content
    stored.refresh_from_db()
    assert (stored.state, stored.ciphertext, stored.due_at) == (MailState.SENT, "", None)
    assert mails_send() == 0


def test_server_that_is_away_gets_the_mail_later(
    mailbox: Mailbox, start_server: Callable[[], Controller]
) -> None:
    queue()
    assert mails_send() == 0
    waiting = Mail.objects.get()
    assert "ConnectionRefusedError" in waiting.last_error
    assert waiting.due_at is not None
    assert waiting.due_at > timezone.now() + RETRY_AFTER[0] - timedelta(seconds=10)
    assert mails_send() == 0 and Mail.objects.get().attempts == 1  # not before it is due
    start_server()
    due_now()
    assert mails_send() == 1 and len(mailbox.taken) == 1


def test_line_break_in_a_name_begins_no_header(
    mailbox: Mailbox, start_server: Callable[[], Controller]
) -> None:
    start_server()
    subject = "Ada\r\nBcc: eve@example.org\n\nA body invites you"
    mail_queue(to="ada@example.org", kind="test", subject=subject, text=SECRET)
    due_now()
    assert mails_send() == 1
    [(recipients, text)] = mailbox.taken
    assert recipients == ["ada@example.org"]
    assert "Subject: Ada Bcc: eve@example.org A body invites you" in text
    assert "\nBcc:" not in text


@pytest.mark.parametrize(
    ("refusal", "tries"),
    [("450 mailbox busy", len(RETRY_AFTER) + 1), ("550 no such mailbox", 1)],
)
def test_refused_mail_is_kept_without_its_text(
    mailbox: Mailbox, start_server: Callable[[], Controller], refusal: str, tries: int
) -> None:
    start_server()
    mailbox.refusal = refusal
    queue()
    for _ in range(tries):
        assert Mail.objects.get().state == MailState.QUEUED
        due_now()
        assert mails_send() == 0
    failed = Mail.objects.get()
    assert (failed.state, failed.ciphertext, failed.due_at) == (MailState.FAILED, "", None)
    assert refusal[:3] in failed.last_error
    mails_count()
    assert REGISTRY.get_sample_value("parley_mails", {"state": "failed"}) == 1
    due_now()
    assert mails_send() == 0 and mailbox.taken == []


def test_mail_that_cannot_be_sent_stops_no_other(
    mailbox: Mailbox, start_server: Callable[[], Controller]
) -> None:
    start_server()
    unsendable = "x@" + 60 * "ü" + ".example"  # no label of a domain is so long in IDNA
    mail_queue(to=unsendable, kind="test", subject="A link", text=SECRET)
    queue()
    assert mails_send() == 1
    assert [to for to, _ in mailbox.taken] == [["ada@example.org"]]
    for _ in RETRY_AFTER:
        due_now()
        assert mails_send() == 0
    failed = Mail.objects.get(to=unsendable)
    assert (failed.state, failed.ciphertext) == (MailState.FAILED, "")
    assert "UnicodeError" in failed.last_error


def test_mail_says_that_a_program_sent_it(
    mailbox: Mailbox, start_server: Callable[[], Controller], settings: Any
) -> None:
    settings.DEFAULT_FROM_EMAIL = "Parley <no-reply@chat.example.com>"
    start_server()
    queue()
    assert mails_send() == 1
    [(_, content)] = mailbox.taken
    message = message_from_string(content, policy=default)
    assert message["Auto-Submitted"] == "auto-generated"
    assert message["Message-ID"].endswith("@chat.example.com>")


@pytest.mark.parametrize("email", ["x@" + 60 * "ü" + ".example", "x@a..example", "x"])
def test_address_that_no_mail_reaches_is_refused(email: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        clean_email(email)
    assert refused.value.param == "email"


def test_wrong_login_is_a_failed_attempt(
    mailbox: Mailbox, start_server: Callable[[], Controller], settings: Any
) -> None:
    start_server()
    settings.EMAIL_HOST_PASSWORD = "wrong"
    queue()
    assert mails_send() == 0
    assert "SMTPAuthenticationError" in Mail.objects.get().last_error


def test_mail_of_what_was_rolled_back_is_not_sent(
    mailbox: Mailbox, start_server: Callable[[], Controller]
) -> None:
    start_server()
    with pytest.raises(RuntimeError), transaction.atomic():
        queue()
        raise RuntimeError
    assert mails_send() == 0 and not Mail.objects.exists()


def test_mail_of_django_goes_to_the_outbox_where_there_is_no_server(settings: Any) -> None:
    settings.EMAIL_BACKEND = "backend.accounts.mail.LocalOutbox"
    send_mail("Budget", "It is used up.", "parley@localhost", ["a@example.org", "b@example.org"])
    stored = Mail.objects.order_by("to")
    assert [(m.to, m.state, mail_text(m)) for m in stored] == [
        ("a@example.org", MailState.OUTBOX, "It is used up."),
        ("b@example.org", MailState.OUTBOX, "It is used up."),
    ]
    assert mails_send() == 0


def test_outbox_forgets_after_a_day() -> None:
    queue()
    queue()
    old = Mail.objects.first()
    assert old is not None
    Mail.objects.filter(pk=old.pk).update(created_at=timezone.now() - timedelta(hours=25))
    assert mails_delete() == 1
    assert Mail.objects.count() == 1
