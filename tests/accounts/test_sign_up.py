"""Sign-up: one account for an address, with everything that it needs to start."""

import threading

import pytest
from django.contrib.auth import authenticate
from django.db import connection

from backend.accounts.models import Membership, Organization, Project, Role, User
from backend.accounts.services import user_create, user_rename
from backend.accounts.sign_up import sign_up_begin
from backend.platform.errors import (
    Conflict,
    InvalidRequest,
    NotFound,
    Overloaded,
    PermissionDenied,
)

PASSWORD = "correct horse battery"


@pytest.mark.django_db
def test_user_owns_an_organization_with_a_default_project():
    user = user_create(email="Ada@Example.org", password=PASSWORD, name="Ada")

    organization = Organization.objects.get()
    assert organization.name == "Ada's organization"
    assert organization.plan_id == "free"
    assert Membership.objects.get().role == Role.OWNER
    assert Project.objects.get().is_default
    assert user.email == "ada@example.org"


@pytest.mark.django_db
def test_password_is_stored_with_argon2_and_opens_the_account_in_any_case_of_the_address():
    user_create(email="ada@example.org", password=PASSWORD)

    assert User.objects.get().password.startswith("argon2")
    assert authenticate(username="ADA@example.ORG", password=PASSWORD) is not None
    assert authenticate(username="ada@example.org", password="wrong") is None


@pytest.mark.django_db
def test_long_password_in_any_script_is_taken_as_typed():
    password = "parley " + "é ü 潮 " * 30
    user_create(email="ada@example.org", password=password)
    assert authenticate(username="ada@example.org", password=password) is not None
    assert authenticate(username="ada@example.org", password=password.strip()) is None


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"email": "no address"}, "email"),
        ({"email": "a@b\x00.org"}, "email"),
        ({"email": f"{'a' * 300}@example.org"}, "email"),
        ({"password": "password"}, "password"),
        ({"password": "12345678901"}, "password"),
        ({"password": "ada.lovelace"}, "password"),
        ({"password": "x" * 1001}, "password"),
        ({"password": "Parley-PARLEY-26"}, "password"),
        ({"name": "n" * 201}, "name"),
        ({"name": "a\x00b"}, "name"),
    ],
)
def test_wrong_field_is_named(fields, param):
    given = {"email": "ada.lovelace@example.org", "password": PASSWORD, "name": "", **fields}

    with pytest.raises(InvalidRequest) as refused:
        user_create(**given)

    assert refused.value.param == param
    assert not User.objects.exists()


@pytest.mark.django_db
def test_password_has_eight_characters_at_least():
    with pytest.raises(InvalidRequest) as refusal:
        user_create(email="ada@example.org", password="xk7Q!pz")
    assert refusal.value.param == "password"
    assert user_create(email="ada@example.org", password="xk7Q!pzw").check_password("xk7Q!pzw")


@pytest.mark.django_db
def test_address_is_taken_in_any_case():
    user_create(email="ada@example.org", password=PASSWORD)

    with pytest.raises(Conflict) as refused:
        user_create(email="ADA@EXAMPLE.ORG", password=PASSWORD)

    assert refused.value.param == "email"
    assert Organization.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_of_two_sign_ups_at_the_same_moment_one_is_refused():
    together = threading.Barrier(2)
    outcomes: list[str] = []

    def sign_up(email: str) -> None:
        together.wait()
        try:
            user_create(email=email, password=PASSWORD)
            outcomes.append("created")
        except Conflict:
            outcomes.append("conflict")
        finally:
            connection.close()

    threads = [threading.Thread(target=sign_up, args=(e,)) for e in ("a@x.org", "A@X.org")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(outcomes) == ["conflict", "created"]
    assert User.objects.count() == Organization.objects.count() == 1


@pytest.mark.django_db
def test_closed_sign_up_is_refused(settings):
    settings.SIGNUP_OPEN = False

    with pytest.raises(PermissionDenied):
        sign_up_begin(email="ada@example.org", password=PASSWORD)


@pytest.mark.django_db
def test_sign_up_without_any_way_to_mail_is_refused(settings):
    settings.OUTBOX_TOKEN = ""

    with pytest.raises(Overloaded):
        sign_up_begin(email="ada@example.org", password=PASSWORD)


@pytest.mark.django_db
def test_user_changes_their_name():
    user = user_create(email="ada@example.org", password=PASSWORD)

    user_rename(user_id=user.pk, name="  Ada   Lovelace ")

    assert User.objects.get().name == "Ada Lovelace"
    assert User.objects.get().get_full_name() == "Ada Lovelace"


@pytest.mark.django_db
def test_renaming_a_deleted_user_is_not_found():
    user = user_create(email="ada@example.org", password=PASSWORD)
    user_id = user.pk
    user.delete()

    with pytest.raises(NotFound):
        user_rename(user_id=user_id, name="Ada")
