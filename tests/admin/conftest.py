"""Staff of each kind, signed in through the site's own door."""

import pytest
from django.contrib.auth.models import Group
from django.core.management import call_command
from django.test import Client

from backend.accounts.models import User
from tests.factories import UserFactory


@pytest.fixture(scope="session", autouse=True)
def static_files() -> None:
    """The pages name their style sheets by hash, so the files have to be collected once."""
    call_command("collectstatic", interactive=False, verbosity=0)


def staff(client: Client, *, group: str | None = None, **fields) -> User:
    user = UserFactory.create(is_staff=True, **fields)
    if group is not None:
        user.groups.add(Group.objects.get(name=group))
    client.force_login(user)
    return user


@pytest.fixture
def superuser(client):
    return staff(client, is_superuser=True)


@pytest.fixture
def support(client):
    return staff(client, group="Support")


@pytest.fixture
def finance(client):
    return staff(client, group="Finance")


@pytest.fixture
def reviewer(client):
    return staff(client, group="Safety reviewers")
