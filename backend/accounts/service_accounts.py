"""Service accounts: programs' accounts in a project, whose keys outlive who made them."""

from uuid import UUID, uuid4

from django.db import transaction
from django.db.models import QuerySet

from backend.accounts.models import APIKey, Membership, Project, Role, ServiceAccount, User
from backend.accounts.principal import Principal
from backend.accounts.project_access import project_managed
from backend.accounts.services import api_key_end, api_key_insert, clean_text
from backend.audit.actions import Action
from backend.audit.services import Caller, record
from backend.platform.errors import NotFound

_DOMAIN = "service.invalid"  # RFC 2606: no mail ever goes there


@transaction.atomic
def service_account_create(
    *, principal: Principal, project_id: UUID, name: str
) -> tuple[ServiceAccount, APIKey, str]:
    """A service account, its first key, and the key's secret, which nothing keeps.

    Raises:
        NotFound: no such project. PermissionDenied: the caller does not manage it.
        InvalidRequest: no name. Conflict: the project is archived.
    """
    project = project_managed(principal, project_id)
    name = clean_text(name, param="name", required=True)
    account = _create(principal, project, name)
    key, secret = api_key_insert(
        actor=principal,
        project=project,
        created_by_id=account.user_id,
        name="Secret Key",
        scopes=[],
    )
    return account, key, secret


@transaction.atomic
def service_account_delete(
    *, principal: Principal, project_id: UUID, service_account_id: UUID
) -> None:
    """It and its keys end. Raises as `service_account_create`, and NotFound."""
    project = project_managed(principal, project_id)
    account = project.service_accounts.filter(pk=service_account_id).first()
    if account is None:
        raise NotFound(f"There is no service account {service_account_id}.")
    service_account_end(account, actor=principal)


def service_account_end(account: ServiceAccount, *, actor: Caller) -> None:
    """Whoever asks: the callers decide who may. The user's row stays, because usage names it."""
    for key in APIKey.objects.filter(created_by_id=account.user_id, revoked_at=None):
        api_key_end(key=key, actor=actor)
    _record(Action.SERVICE_ACCOUNT_DELETED, actor, account)
    Membership.objects.filter(user_id=account.user_id).delete()
    User.objects.filter(pk=account.user_id).update(is_active=False)
    account.delete()


def service_accounts_take_keys(
    *, actor: Caller, membership: Membership, keys: QuerySet[APIKey]
) -> None:
    """A service account in each project of `keys` holds them, in place of a leaving member."""
    person = membership.user.get_full_name()
    projects = Project.objects.filter(pk__in=keys.values("project_id"))
    for project in projects.order_by("pk"):
        account = _create(actor, project, f"Keys of {person}"[:200])
        for key in keys.filter(project=project):
            APIKey.objects.filter(pk=key.pk).update(created_by_id=account.user_id)
            record(
                Action.KEY_UPDATED,
                organization_id=project.organization_id,
                actor=actor,
                target=("api_key", key.pk),
                project_id=project.pk,
                details={"service_account": str(account.pk)},
            )


def _create(actor: Caller, project: Project, name: str) -> ServiceAccount:
    user = User(email=f"{uuid4().hex}@{_DOMAIN}", name=name)
    user.set_unusable_password()
    user.save(force_insert=True)
    Membership.objects.create(organization_id=project.organization_id, user=user, role=Role.MEMBER)
    account = ServiceAccount.objects.create(project=project, user=user, name=name)
    _record(Action.SERVICE_ACCOUNT_CREATED, actor, account)
    return account


def _record(action: Action, actor: Caller, account: ServiceAccount) -> None:
    record(
        action,
        organization_id=account.project.organization_id,
        actor=actor,
        target=("service_account", account.pk),
        project_id=account.project_id,
    )
