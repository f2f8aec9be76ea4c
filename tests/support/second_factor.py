"""What an authenticator app does, and staff who have one."""

import time

from allauth.mfa import app_settings
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import format_hotp_value, generate_totp_secret, hotp_value
from django.test import AsyncClient, Client

from backend.accounts.encryption import seed_encrypt
from backend.accounts.models import User
from backend.api.sign_in import FACTOR


def code_of(secret: str, *, periods: int = 0) -> str:
    """The code that an app shows, so many periods of 30 s from now. Each works once, and so do
    those of the periods before and after: a test's first code is of this period and its second of
    the next, which both hold when a period ends between here and the server."""
    counter = int(time.time()) // app_settings.TOTP_PERIOD + periods
    return format_hotp_value(hotp_value(secret, counter))


def enrol(user: User) -> str:
    """An authenticator app for `user`; its secret."""
    secret = generate_totp_secret()
    Authenticator.objects.create(
        user=user, type=Authenticator.Type.TOTP, data={"secret": seed_encrypt(secret)}
    )
    return secret


def staff_sign_in(client: Client | AsyncClient, user: User) -> None:
    """Sign `user` in as staff who have given their second factor."""
    enrol(user)
    client.force_login(user)
    session = client.session
    session[FACTOR] = "totp"
    session.save()
