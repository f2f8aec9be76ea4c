"""API keys: made once, shown once, and gone at once."""

import asyncio
import string
from datetime import timedelta

import pytest
from asgiref.sync import sync_to_async
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from backend.accounts import key_cache
from backend.accounts.authentication import principal_for_api_key
from backend.accounts.keys import secret_from, secret_generate, secret_is_well_formed
from backend.accounts.models import APIKey, Membership, Plan, Role, User
from backend.accounts.principal import Principal
from backend.accounts.scopes import Scope
from backend.accounts.selectors import api_keys_page
from backend.accounts.services import api_key_create, api_key_revoke
from backend.accounts.tasks import api_key_last_uses_write
from backend.platform.errors import (
    AuthenticationFailed,
    InsufficientQuota,
    InvalidRequest,
    NotFound,
    PermissionDenied,
)
from backend.platform.redis import CACHE, async_client
from tests.factories import OrganizationFactory, ProjectFactory, api_key_of, member

BASE62 = string.digits + string.ascii_uppercase + string.ascii_lowercase


def value_of(secret: str) -> int:
    number = 0
    for digit in secret.removeprefix("sk-parley-"):
        number = number * 62 + BASE62.index(digit)
    return number


@given(st.binary(min_size=32, max_size=32))
def test_secret_is_its_32_bytes_in_base62(entropy):
    secret = secret_from(entropy)

    assert secret_is_well_formed(secret)
    assert value_of(secret).to_bytes(32, "big") == entropy


@pytest.mark.django_db
def test_of_the_secret_only_prefix_and_hash_are_stored():
    key, secret = api_key_create(principal=member(), name="ci")

    assert secret.startswith(key.prefix)
    row = APIKey.objects.values().get()
    assert not any(secret in str(value) for value in row.values())
    assert len(key.prefix) <= len("sk-parley-") + 6


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"name": "  "}, "name"),
        ({"name": "n" * 201}, "name"),
        ({"scopes": ["everything"]}, "scopes"),
        ({"expires_at": timezone.now() - timedelta(seconds=1)}, "expires_at"),
    ],
)
def test_wrong_field_is_named(fields, param):
    with pytest.raises(InvalidRequest) as refused:
        api_key_create(principal=member(), **{"name": "ci", **fields})
    assert refused.value.param == param


@pytest.mark.django_db
def test_key_cannot_be_made_in_another_organizations_project():
    elsewhere = ProjectFactory.create()

    with pytest.raises(NotFound):
        api_key_create(principal=member(), name="ci", project_id=elsewhere.pk)


@pytest.mark.django_db
def test_finance_role_makes_no_keys():
    with pytest.raises(PermissionDenied):
        api_key_create(principal=member(role=Role.FINANCE), name="ci")


@pytest.mark.django_db(transaction=True)
async def test_restricted_key_cannot_make_a_stronger_one():
    owner = await sync_to_async(member)()
    _, secret = await sync_to_async(api_key_create)(
        principal=owner, name="weak", scopes=[Scope.KEYS]
    )
    weak = await principal_for_api_key(secret)

    for wanted in ([], [Scope.KEYS, Scope.INFERENCE]):
        with pytest.raises(PermissionDenied):
            await sync_to_async(api_key_create)(principal=weak, name="strong", scopes=wanted)
    await sync_to_async(api_key_create)(principal=weak, name="as weak", scopes=[Scope.KEYS])


@pytest.mark.django_db(transaction=True)
async def test_key_stands_for_its_creator_in_its_organization():
    owner = await sync_to_async(member)()
    key, secret = await sync_to_async(api_key_create)(
        principal=owner, name="ci", scopes=[Scope.INFERENCE]
    )

    for _ in ("loaded", "cached"):
        principal = await principal_for_api_key(secret)
        assert principal.organization_id == owner.organization_id
        assert principal.project_id == owner.project_id
        assert principal.user_id == owner.user_id
        assert principal.key_id == key.pk
        assert principal.plan == owner.plan
        assert principal.role == Role.OWNER
        principal.require(Scope.INFERENCE)
        with pytest.raises(PermissionDenied):
            principal.require(Scope.USAGE)


@pytest.mark.django_db(transaction=True)
async def test_key_has_its_creators_role_and_no_colleagues():
    """In whatever order people joined."""
    organization = await sync_to_async(OrganizationFactory.create)()
    for role in (Role.OWNER, Role.MEMBER, Role.ADMIN, Role.MEMBER, Role.OWNER):
        colleague = await sync_to_async(member)(organization=organization, role=role)
        _, secret = await sync_to_async(api_key_of)(colleague)
        for _ in ("loaded", "cached"):
            assert (await principal_for_api_key(secret)).role == role


@pytest.mark.django_db(transaction=True)
async def test_key_that_is_first_used_by_many_requests_at_once_is_looked_up_once():
    """Each look-up counts against those that an address may have of keys never seen."""
    _key, secret = await sync_to_async(api_key_of)()
    admitted: list[None] = []

    async def admit() -> None:
        admitted.append(None)

    found = await asyncio.gather(*(principal_for_api_key(secret, admit=admit) for _ in range(80)))
    assert len(admitted) == 1
    assert len({principal.key_id for principal in found}) == 1


@pytest.mark.django_db(transaction=True)
async def test_cached_key_needs_no_query():
    key, secret = await sync_to_async(api_key_of)()
    await principal_for_api_key(secret)

    await sync_to_async(APIKey.objects.all().delete)()

    assert (await principal_for_api_key(secret)).key_id == key.pk


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "secret",
    ["", "sk-parley-", "sk-other-" + "a" * 43, "sk-parley-" + "é" * 43, "sk-parley-" + "a" * 44],
)
async def test_malformed_key_is_refused(secret):
    with pytest.raises(AuthenticationFailed):
        await principal_for_api_key(secret)


@pytest.mark.django_db(transaction=True)
async def test_unknown_key_is_refused():
    with pytest.raises(AuthenticationFailed):
        await principal_for_api_key(secret_generate())


@pytest.mark.django_db(transaction=True)
async def test_revoked_key_is_refused_at_once_although_it_was_cached():
    owner = await sync_to_async(member)()
    key, secret = await sync_to_async(api_key_create)(principal=owner, name="ci")
    await principal_for_api_key(secret)

    await sync_to_async(api_key_revoke)(principal=owner, key_id=key.pk)

    with pytest.raises(AuthenticationFailed):
        await principal_for_api_key(secret)


@pytest.mark.django_db(transaction=True)
async def test_revoked_key_is_not_cached_again_by_a_process_that_loaded_it_before():
    owner = await sync_to_async(member)()
    key, secret = await sync_to_async(api_key_create)(principal=owner, name="ci")
    slow = await principal_for_api_key(secret)
    await sync_to_async(api_key_revoke)(principal=owner, key_id=key.pk)

    with pytest.raises(key_cache.RefusedKey):
        await key_cache.principal_write(key.sha256, slow, timezone.now(), ttl_s=10)

    with pytest.raises(AuthenticationFailed):
        await principal_for_api_key(secret)


@pytest.mark.django_db(transaction=True)
async def test_expired_key_is_refused_and_the_cache_does_not_outlive_it():
    expires_at = timezone.now() + timedelta(seconds=4)  # of a slow machine's too
    _key, secret = await sync_to_async(api_key_of)(expires_at=expires_at)
    await principal_for_api_key(secret)
    await asyncio.sleep((expires_at - timezone.now()).total_seconds() + 0.05)

    with pytest.raises(AuthenticationFailed):
        await principal_for_api_key(secret)


@pytest.mark.django_db(transaction=True)
async def test_cached_key_ends_in_time_though_redis_got_it_late():
    owner = await sync_to_async(member)()
    key, secret = await sync_to_async(api_key_create)(principal=owner, name="ci")
    principal = await principal_for_api_key(secret)
    await async_client(CACHE).flushdb()
    loaded_at = timezone.now() - timedelta(seconds=2)
    await key_cache.principal_write(key.sha256, principal, loaded_at, ttl_s=2)

    assert await key_cache.principal_read(key.sha256) is None


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("gone", ["deactivated", "left"])
async def test_key_ends_with_its_creators_membership(gone):
    _key, secret = await sync_to_async(api_key_of)()

    def end() -> None:
        if gone == "deactivated":
            User.objects.update(is_active=False)
        else:
            Membership.objects.all().delete()

    await sync_to_async(end)()

    with pytest.raises(AuthenticationFailed):
        await principal_for_api_key(secret)


@pytest.mark.django_db(transaction=True)
async def test_without_redis_keys_still_work(settings):
    key, secret = await sync_to_async(api_key_of)()
    settings.REDIS_URL = "redis://127.0.0.1:9/0"

    assert (await principal_for_api_key(secret)).key_id == key.pk


@pytest.mark.django_db(transaction=True)
async def test_last_use_is_written_later_by_a_task():
    key, secret = await sync_to_async(api_key_of)()
    before = timezone.now()
    await principal_for_api_key(secret)
    await key.arefresh_from_db()
    assert key.last_used_at is None

    assert await sync_to_async(api_key_last_uses_write)() == 1
    assert await sync_to_async(api_key_last_uses_write)() == 0

    used = await APIKey.objects.aget(pk=key.pk, last_used_at__isnull=False)
    assert used.last_used_at is not None
    assert before <= used.last_used_at <= timezone.now()


def listed(principal: Principal) -> list[APIKey]:
    """Page by page."""
    found, cursor = [], None
    while True:
        page = api_keys_page(principal=principal, after=cursor, limit=1)
        found += page.items
        cursor = page.next_cursor
        if cursor is None:
            return found


@pytest.mark.django_db
def test_keys_come_in_pages_newest_first_and_a_cursor_opens_nothing_of_others():
    owner = member()
    made = [api_key_create(principal=owner, name=f"{n}")[0].pk for n in range(3)]
    assert [key.pk for key in listed(owner)] == made[::-1]
    with pytest.raises(InvalidRequest):
        api_keys_page(principal=member(), after=str(made[0]), limit=10)


@pytest.mark.django_db
def test_members_see_and_revoke_their_own_keys_and_owners_all():
    organization = OrganizationFactory.create()
    owner, ordinary = (member(organization=organization, role=r) for r in ("owner", "member"))
    owners, _ = api_key_create(principal=owner, name="owner's")
    ordinarys, _ = api_key_create(principal=ordinary, name="member's")

    assert {key.pk for key in listed(principal=owner)} == {owners.pk, ordinarys.pk}
    assert [key.pk for key in listed(principal=ordinary)] == [ordinarys.pk]
    with pytest.raises(NotFound):
        api_key_revoke(principal=ordinary, key_id=owners.pk)
    api_key_revoke(principal=owner, key_id=ordinarys.pk)
    assert listed(principal=ordinary) == []
    with pytest.raises(NotFound):
        api_key_revoke(principal=owner, key_id=ordinarys.pk)


@pytest.mark.django_db
def test_another_organizations_owner_neither_sees_nor_revokes_a_key():
    key, _ = api_key_create(principal=member(), name="ci")
    other_user = member()

    assert listed(principal=other_user) == []
    with pytest.raises(NotFound):
        api_key_revoke(principal=other_user, key_id=key.pk)
    key.refresh_from_db()
    assert key.revoked_at is None


@pytest.mark.django_db
def test_plan_bounds_working_keys_of_organization():
    Plan.objects.update(api_keys=2)
    owner = member()
    keys = [api_key_create(principal=owner, name="k")[0] for _ in range(2)]
    with pytest.raises(InsufficientQuota) as refusal:
        api_key_create(principal=owner, name="k")
    assert refusal.value.code == "too_many_keys"
    api_key_create(principal=member(), name="of another organization")
    api_key_revoke(principal=owner, key_id=keys[0].pk)
    api_key_create(principal=owner, name="k")
    APIKey.objects.filter(pk=keys[1].pk).update(expires_at=timezone.now())
    api_key_create(principal=owner, name="k")
