"""`manage.py seed_demo` gives one working login, however often it runs."""

import stat
from io import StringIO

import pytest
from django.contrib.auth import authenticate
from django.core.management import call_command

from backend.accounts.models import Organization, User

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def var(settings, tmp_path):
    settings.VAR_DIR = tmp_path
    return tmp_path


def seed():
    printed = StringIO()
    call_command("seed_demo", stdout=printed)
    return printed.getvalue()


def login_in(path):
    lines = (path / "demo-login.txt").read_text().splitlines()
    return dict(line.split(": ", 1) for line in lines)


def test_printed_login_opens_the_demo_account(var):
    printed = seed()

    login = login_in(var)
    assert login["password"] in printed
    user = authenticate(username=login["email"], password=login["password"])
    assert user is not None
    assert Organization.objects.get(memberships__user=user).name == "Demo"


def test_demo_login_is_readable_by_its_owner_only(var):
    seed()
    assert stat.S_IMODE((var / "demo-login.txt").stat().st_mode) == 0o600


def test_second_run_changes_nothing(var):
    seed()
    login, password = login_in(var), User.objects.get().password

    seed()

    assert login_in(var) == login
    assert User.objects.get().password == password
    assert Organization.objects.count() == 1


def test_emptied_database_gets_the_same_login(var):
    seed()
    login = login_in(var)
    Organization.objects.all().delete()
    User.objects.all().delete()

    seed()

    assert login_in(var) == login
    assert authenticate(username=login["email"], password=login["password"]) is not None


def test_password_is_new_when_the_login_file_is_lost(var):
    seed()
    before = login_in(var)
    (var / "demo-login.txt").unlink()

    seed()

    after = login_in(var)
    assert after["password"] != before["password"]
    assert authenticate(username=after["email"], password=after["password"]) is not None
