"""Mail to people: queued in the transaction that it is about, sent by Celery, tried again.

With a mail server (PARLEY_SMTP_HOST) a mail waits in the table `Mail` until the server has taken
it. What is refused for now is tried again for half a day; then, or at once where the server refuses
for good, it is kept as failed, for the admin to see. The text goes when the mail has gone. Without
a server mails stay a day in the local outbox: the page /outbox shows them with PARLEY_OUTBOX_TOKEN,
and the log has them.
"""

from base64 import b64decode, b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from email.utils import make_msgid, parseaddr
from smtplib import SMTPDataError, SMTPRecipientsRefused

import structlog
from celery import current_app
from django.conf import settings
from django.core.mail import EmailMessage
from django.core.mail.backends.base import BaseEmailBackend
from django.db import transaction
from django.db.models import Count, Q
from django.utils import timezone

from backend.accounts import metrics
from backend.accounts.encryption import mail_decrypt, mail_encrypt
from backend.accounts.models import Mail, MailState
from backend.platform.pages import delete_in_pages

# After each failed attempt. Later the links in it are of no use any more.
RETRY_AFTER = [timedelta(minutes=m) for m in (1, 5, 15, 60, 180, 480)]
# A worker that dies while it sends has not said whether the mail went: it is sent again.
_CLAIMED_FOR = timedelta(minutes=5)
OUTBOX_AGE = timedelta(days=1)
KEPT_AGE = timedelta(days=30)
_FILE = "\x1e"
"""Between the text of a mail and its file, in Base64."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that goes with a mail; its type is that of its name."""

    name: str
    content: bytes


def mail_queue(
    *, to: str, kind: str, subject: str, text: str, attachment: Attachment | None = None
) -> None:
    """Send a mail after the commit of the running transaction.

    Args:
        kind: what it is about, for the admin: few, and never content.
    """
    subject = " ".join(subject.split())  # names are part of it: a line break begins a header
    now = timezone.now()
    has_server = bool(settings.EMAIL_HOST)
    Mail.objects.create(
        to=to,
        kind=kind,
        subject=subject,
        ciphertext=mail_encrypt(_joined(text, attachment), to=to, kind=kind),
        attachment=attachment.name if attachment else "",
        state=MailState.QUEUED if has_server else MailState.OUTBOX,
        due_at=now if has_server else None,
    )
    if has_server:
        # `robust`: without Redis the mail is found by beat's next run.
        transaction.on_commit(_wake_worker, robust=True)
    elif settings.OUTBOX_TOKEN:
        log.info("mail_in_outbox", to=to, subject=subject, text=text)


def mails_send() -> int:
    """Send what is due. Several workers share the work. Returns how many were sent."""
    sent = 0
    while (mail := _claim()) is not None:
        sent += _send(mail)
    return sent


def mails_delete() -> int:
    """Forget mails of the outbox after a day, and all others after 30. Returns how many."""
    now = timezone.now()
    old = Mail.objects.filter(created_at__lt=now - KEPT_AGE)
    shown = Mail.objects.filter(state=MailState.OUTBOX, created_at__lt=now - OUTBOX_AGE)
    return sum(delete_in_pages(rows, by="created_at") for rows in (old, shown))


def mails_count() -> None:
    """Set the gauges; the web process does, when it is asked for its metrics."""
    since = timezone.now() - timedelta(days=1)
    found = Mail.objects.filter(created_at__gt=since).aggregate(
        queued=Count("pk", filter=Q(state=MailState.QUEUED)),
        failed=Count("pk", filter=Q(state=MailState.FAILED)),
    )
    for state in ("queued", "failed"):
        metrics.MAILS.labels(state).set(found[state])


def mail_text(mail: Mail) -> str:
    """The text; empty once it was sent."""
    if not mail.ciphertext:
        return ""
    text = mail_decrypt(mail.ciphertext, to=mail.to, kind=mail.kind)
    return text.rpartition(_FILE)[0] if mail.attachment else text


def mail_attachment(mail: Mail) -> Attachment | None:
    """The file that goes with it; None once it was sent."""
    if not mail.attachment or not mail.ciphertext:
        return None
    text = mail_decrypt(mail.ciphertext, to=mail.to, kind=mail.kind)
    return Attachment(mail.attachment, b64decode(text.rpartition(_FILE)[2]))


def _joined(text: str, attachment: Attachment | None) -> str:
    return text + _FILE + b64encode(attachment.content).decode() if attachment else text


class LocalOutbox(BaseEmailBackend):
    """Django's mail backend where there is no mail server: into the outbox, as `mail_queue`."""

    def send_messages(self, email_messages: Sequence[EmailMessage]) -> int:
        for message in email_messages:
            for to in message.recipients():
                mail_queue(
                    to=to, kind="notice", subject=message.subject[:200], text=str(message.body)
                )
        return len(email_messages)


def _wake_worker() -> None:
    # By name, because tasks.py imports this module. `retry=False`: without a broker beat's next run
    # finds the mail, and the user does not wait here.
    current_app.send_task("backend.accounts.tasks.mails_send_due", retry=False)


@transaction.atomic
def _claim() -> Mail | None:
    """One that is due, claimed for some minutes. No lock is held while it is sent."""
    mail = (
        Mail.objects.select_for_update(skip_locked=True)
        .filter(state=MailState.QUEUED, due_at__lte=timezone.now())
        .order_by("due_at")
        .first()
    )
    if mail is not None:
        mail.attempts += 1
        mail.due_at = timezone.now() + _CLAIMED_FOR
        mail.save(update_fields=["attempts", "due_at"])
    return mail


def _send(mail: Mail) -> bool:
    try:
        _message(mail).send()
    except Exception as error:  # whatever a mail meets, the others are sent
        _failed(mail, error)
        return False
    mail.state, mail.sent_at, mail.due_at = MailState.SENT, timezone.now(), None
    mail.ciphertext = mail.last_error = ""
    mail.save(update_fields=["state", "sent_at", "due_at", "ciphertext", "last_error"])
    return True


def _message(mail: Mail) -> EmailMessage:
    _, sender = parseaddr(settings.DEFAULT_FROM_EMAIL)
    headers = {
        # RFC 3834: vacation programs do not answer.
        "Auto-Submitted": "auto-generated",
        "Message-ID": make_msgid(domain=sender.rpartition("@")[2]),
    }
    message = EmailMessage(
        subject=mail.subject, body=mail_text(mail), to=[mail.to], headers=headers
    )
    file = mail_attachment(mail)
    if file is not None:
        message.attach(file.name, file.content)
    return message


def _is_permanent(error: Exception) -> bool:
    """Return whether the server refuses the mail for good (RFC 5321, section 4.2.1)."""
    if isinstance(error, SMTPRecipientsRefused):
        return all(code >= 500 for code, _ in error.recipients.values())
    return isinstance(error, SMTPDataError) and error.smtp_code >= 500


def _failed(mail: Mail, error: Exception) -> None:
    # Not the server's words in the log: they may repeat the address.
    mail.last_error = f"{type(error).__name__}: {error}"[:300]
    if mail.attempts > len(RETRY_AFTER) or _is_permanent(error):
        mail.state, mail.due_at, mail.ciphertext = MailState.FAILED, None, ""
        log.error("mail_failed", mail_id=mail.pk, kind=mail.kind, error=type(error).__name__)
    else:
        mail.due_at = timezone.now() + RETRY_AFTER[mail.attempts - 1]
        log.warning(
            "mail_not_sent",
            mail_id=mail.pk,
            kind=mail.kind,
            attempt=mail.attempts,
            error=type(error).__name__,
        )
    mail.save(update_fields=["state", "due_at", "ciphertext", "last_error"])
