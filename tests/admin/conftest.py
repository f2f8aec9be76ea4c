"""Staff of each kind, signed in through the site's own door."""

import pytest
from django.contrib.auth.models import Group
from django.test import Client

from backend.accounts.models import User
from tests.factories import UserFactory
from tests.support.second_factor import staff_sign_in


@pytest.fixture(autouse=True)
def pages(static_files: None) -> None:
    """Every test here renders pages."""


def staff(client: Client, *, group: str | None = None, **fields) -> User:
    user = UserFactory.create(is_staff=True, **fields)
    if group is not None:
        user.groups.add(Group.objects.get(name=group))
    staff_sign_in(client, user)
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
