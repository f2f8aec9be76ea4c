"""The product's calls of its own API in a user's name: short-lived, revocable, not forged."""

import hashlib
import hmac
import time
from uuid import UUID

import pytest
from asgiref.sync import sync_to_async
from django.core import signing
from django.utils import timezone

from backend.accounts.authentication import principal_for_api_key
from backend.accounts.internal_calls import PREFIX, internal_call, internal_token
from backend.accounts.keys import secret_from, secret_hash
from backend.accounts.models import APIKey, Organization, Project, User
from backend.accounts.principal import Principal
from backend.accounts.scopes import Scope
from backend.accounts.selectors import api_keys_page
from backend.accounts.services import api_key_end, api_key_revoke, user_active_set
from backend.platform.encryption import keyring, token_sign
from backend.platform.errors import AuthenticationFailed, NotFound, PermissionDenied
from backend.platform.keys import Keyring, Purpose
from tests.factories import member


def token_of(caller: Principal) -> str:
    return internal_token(organization_id=caller.organization_id, user_id=caller.user_id)


@pytest.mark.django_db(transaction=True)
async def test_token_is_the_user_with_one_scope_and_hidden_from_their_keys():
    owner = await sync_to_async(member)()
    principal = await principal_for_api_key(await sync_to_async(token_of)(owner))
    assert (principal.organization_id, principal.user_id) == (owner.organization_id, owner.user_id)
    assert principal.key_id is not None
    assert principal.scopes == {Scope.INFERENCE}
    page = await sync_to_async(api_keys_page)(principal=owner, after=None, limit=10)
    assert page.items == []
    with pytest.raises(NotFound):
        await sync_to_async(api_key_revoke)(principal=owner, key_id=principal.key_id)


@pytest.mark.django_db(transaction=True)
async def test_token_acts_in_its_project_by_its_rules_as_long_as_the_user_may():
    owner, other = await sync_to_async(member)(), await sync_to_async(member)()
    project = await Project.objects.acreate(
        organization_id=owner.organization_id, name="Research", allowed_models=["small"]
    )

    async def caller(project_id: UUID) -> Principal:
        token = await sync_to_async(internal_token)(
            organization_id=owner.organization_id, user_id=owner.user_id, project_id=project_id
        )
        return await principal_for_api_key(token)

    principal = await caller(project.pk)
    assert principal.project_id == project.pk
    assert principal.project.allowed_models == {"small"}
    assert (principal.scopes, principal.is_api_key) == ({Scope.INFERENCE}, True)
    await Project.objects.filter(pk=project.pk).aupdate(archived_at=timezone.now())
    for denied in (project.pk, other.project_id):
        with pytest.raises(PermissionDenied) as refused:
            await caller(denied)
        assert refused.value.code == "project_unavailable"


@pytest.mark.django_db(transaction=True)
async def test_token_that_is_a_minute_old_is_refused(monkeypatch):
    token = await sync_to_async(lambda: token_of(member()))()
    await principal_for_api_key(token)
    later = time.time() + 61
    monkeypatch.setattr("django.core.signing.time.time", lambda: later)
    with pytest.raises(AuthenticationFailed):
        await principal_for_api_key(token)


@pytest.mark.django_db(transaction=True)
async def test_token_of_a_dropped_key_version_is_refused(settings):
    settings.KEYRING = Keyring(inline="1:" + "a" * 43)
    token = await sync_to_async(lambda: token_of(member()))()
    await principal_for_api_key(token)
    settings.KEYRING = Keyring(inline="2:" + "b" * 43)
    with pytest.raises(AuthenticationFailed):
        await principal_for_api_key(token)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("purpose", [Purpose.DATA_DOWNLOAD, Purpose.DEVICE, Purpose.SIGNING])
async def test_token_of_another_service_is_refused(purpose):
    """It is ours, and of the same words, but was made for something else."""
    token = await sync_to_async(lambda: token_of(member()))()
    words = signing.loads(
        token.removeprefix(PREFIX),
        key=keyring().text_key(Purpose.INTERNAL_CALL),
        salt=f"parley.{Purpose.INTERNAL_CALL}",
    )
    with pytest.raises(AuthenticationFailed):
        await principal_for_api_key(PREFIX + token_sign(words, purpose=purpose))
    again = PREFIX + token_sign(words, purpose=Purpose.INTERNAL_CALL)
    assert (await principal_for_api_key(again)).key_id is not None


@pytest.mark.django_db(transaction=True)
async def test_permanent_secret_of_the_release_before_is_refused():
    """Its row is there, and who knows PARLEY_SECRET_KEY can still derive the secret."""
    owner = await sync_to_async(member)()
    identity = f"internal-api-key:{owner.organization_id}:{owner.user_id}".encode()
    derived = secret_from(hmac.digest(b"leaked", identity, hashlib.sha256))
    row = await APIKey.objects.acreate(
        organization_id=owner.organization_id,
        project_id=owner.project_id,
        created_by_id=owner.user_id,
        name="Automatic titles",
        prefix="sk-parley-abcdef",
        sha256=secret_hash(derived),
        scopes=[Scope.INFERENCE.value],
        is_internal=True,
    )
    with pytest.raises(AuthenticationFailed):
        await principal_for_api_key(derived)
    principal = await principal_for_api_key(await sync_to_async(token_of)(owner))
    assert principal.key_id == row.pk, "its usage goes on under the same key"


@pytest.mark.django_db(transaction=True)
async def test_revoking_the_row_or_deactivating_the_user_stops_calls_at_once():
    owner, other = await sync_to_async(member)(), await sync_to_async(member)()
    tokens = [await sync_to_async(token_of)(caller) for caller in (owner, other)]
    [mine] = [key async for key in APIKey.objects.filter(created_by_id=owner.user_id)]
    await sync_to_async(api_key_end)(key=mine)
    outsider = await User.objects.aget(pk=other.user_id)
    await sync_to_async(user_active_set)(user=outsider, is_active=False)
    for token in [*tokens, await sync_to_async(token_of)(owner)]:
        with pytest.raises(AuthenticationFailed):
            await principal_for_api_key(token)
    assert await APIKey.objects.acount() == 2, "a revoked row is not replaced by a new one"


@pytest.mark.django_db
def test_rows_differ_by_user_and_organization_and_are_made_once():
    callers = [member(), member()]
    ids = {internal_call(token_of(caller)) for caller in callers for _ in range(2)}
    assert len(ids) == 2
    assert Organization.objects.count() == 2


@pytest.mark.parametrize(
    "token",
    [
        "",
        PREFIX,
        PREFIX + "x",
        PREFIX + signing.dumps("00000000-0000-0000-0000-000000000001"),
        PREFIX + "WyJ4Il0:1tabcd:" + "A" * 43,
    ],
)
def test_forged_token_names_no_row(token):
    assert internal_call(token) is None


@pytest.mark.parametrize("value", [None, 7, "no uuid", "/", ["a"], {"key": "x"}])
def test_token_that_names_no_uuid_is_no_token(value):
    assert internal_call(PREFIX + token_sign(value, purpose=Purpose.INTERNAL_CALL)) is None
