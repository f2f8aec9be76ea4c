"""`/outbox`: the mails of an installation without a mail server, as `make run` starts it.

Links in them open accounts, so the page opens with the token that `make run` prints, and there is
no page where there is a mail server or no token.
"""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.templatetags.static import static
from django.utils.crypto import constant_time_compare

from backend.accounts.mail import mail_text
from backend.accounts.models import Mail, MailState
from backend.platform.database import in_database

_SHOWN = 50


async def outbox(request: HttpRequest) -> HttpResponse:
    """The newest fifty, or those `to` one address; 404 without the token."""
    token = settings.OUTBOX_TOKEN
    shown = request.GET.get("token", "")
    if settings.EMAIL_HOST or not token or not constant_time_compare(shown, token):
        return HttpResponse("Not found.\n", status=404, content_type="text/plain")
    mails = await in_database(_mails, request.GET.get("to", ""))
    context = {"mails": mails, "stylesheet": static("api/outbox.css")}
    response = render(request, "api/outbox.html", context)
    response.headers["Cache-Control"] = "no-store"
    return response


def _mails(to: str) -> list[dict[str, object]]:
    found = Mail.objects.filter(state=MailState.OUTBOX)
    if to:
        found = found.filter(to=to.lower())
    return [
        {
            "to": m.to,
            "subject": m.subject,
            "at": m.created_at,
            "text": mail_text(m),
            "attachment": m.attachment,
        }
        for m in found[:_SHOWN]
    ]
