"""The organization that an installation starts with, and the login to it.

Whoever can read the file with the password runs the installation, so the owner is also the
administrator of /admin. Nothing here is secret to them, and nothing of it is in the repository.
"""

import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from django.db import transaction

from backend.accounts.models import Organization, User
from backend.accounts.services import user_create

DEMO_EMAIL = "owner@parley.local"
DEMO_ORGANIZATION = "Demo"
DEMO_PLAN = "premium"  # the one who runs the machine is not to be slowed down by a free plan
LOGIN_FILE = "demo-login.txt"


@dataclass(frozen=True, slots=True)
class DemoLogin:
    email: str
    password: str


@transaction.atomic
def demo_ensure(*, directory: Path) -> DemoLogin:
    """The demo owner and their login, made where they are missing.

    A password that was changed since stays as it is; where the file is gone, a new password is
    set and written.
    """
    path = directory / LOGIN_FILE
    kept = _read(path)
    login = kept or DemoLogin(DEMO_EMAIL, secrets.token_urlsafe(12))
    user = User.objects.filter(email=login.email).first()
    if user is None:
        user = user_create(
            email=login.email,
            password=login.password,
            name="Demo owner",
            organization_name=DEMO_ORGANIZATION,
            is_staff=True,
            is_superuser=True,
        )
        Organization.objects.filter(memberships__user=user).update(plan_id=DEMO_PLAN)
    elif kept is None:
        user.set_password(login.password)
        user.save(update_fields=["password"])
    if kept is None:
        _write(path, login)
    return login


def _read(path: Path) -> DemoLogin | None:
    """The login in lines `email: …` and `password: …`; None where it is not there, or broken."""
    try:
        lines = path.read_text().splitlines()
    except FileNotFoundError:
        return None
    values = {
        name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines)
    }
    if not values.get("email") or not values.get("password"):
        return None
    return DemoLogin(values["email"], values["password"])


def _write(path: Path, login: DemoLogin) -> None:
    """Readable by its owner only, from its first byte on."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".new")
    temporary.unlink(missing_ok=True)
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(f"email: {login.email}\npassword: {login.password}\n")
    temporary.replace(path)
