"""Endpoints and what was sent to them: lists, changes, replays. For owners, admins and finance
members."""

from collections.abc import Sequence
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Coalesce, Greatest, Now

from backend.accounts.paging import Page, page_after
from backend.accounts.principal import Principal
from backend.audit.actions import Action
from backend.audit.services import record
from backend.platform.errors import Conflict, InvalidRequest, NotFound
from billing.models import WebhookDelivery, WebhookEndpoint, WebhookType
from billing.permissions import require_manager, require_money_writer
from billing.webhooks.addresses import check_url

MAX_ENDPOINTS = 20


def endpoints_list(*, principal: Principal) -> list[WebhookEndpoint]:
    """Raises PermissionDenied."""
    require_manager(principal)
    return list(WebhookEndpoint.objects.filter(organization_id=principal.organization_id))


def deliveries_list(
    *, principal: Principal, limit: int = 100, after: str | None = None
) -> Page[WebhookDelivery]:
    """Newest first, those after `after`.

    Raises: PermissionDenied; InvalidRequest: `after` is none of the caller's.
    """
    require_manager(principal)
    mine = WebhookDelivery.objects.filter(endpoint__organization_id=principal.organization_id)
    return page_after(mine, after=after, limit=limit, newest_first=True)


@transaction.atomic
def webhook_create(*, principal: Principal, url: str, types: Sequence[str]) -> WebhookEndpoint:
    """Add an endpoint; its secret is in what is returned.

    Raises: PermissionDenied, InvalidRequest, Conflict (too many).
    """
    require_money_writer(principal)
    check_url(url)
    unknown = set(types) - set(WebhookType.values)
    if unknown or not types:
        raise InvalidRequest(
            f"types must be some of {', '.join(WebhookType.values)}.", param="types"
        )
    existing = WebhookEndpoint.objects.filter(organization_id=principal.organization_id)
    if existing.count() >= MAX_ENDPOINTS:
        raise Conflict(f"An organization has at most {MAX_ENDPOINTS} webhooks.")
    endpoint = WebhookEndpoint(
        organization_id=principal.organization_id, url=url, types=sorted(set(types))
    )
    endpoint.secret_renew()
    endpoint.save(force_insert=True)
    _record(Action.WEBHOOK_CREATED, principal, endpoint.pk)
    return endpoint


@transaction.atomic
def webhook_delete(*, principal: Principal, endpoint_id: UUID) -> None:
    """Raises: PermissionDenied, NotFound."""
    require_money_writer(principal)
    deleted, _ = WebhookEndpoint.objects.filter(
        pk=endpoint_id, organization_id=principal.organization_id
    ).delete()
    if not deleted:
        raise NotFound("No such webhook.")
    _record(Action.WEBHOOK_DELETED, principal, endpoint_id)


@transaction.atomic
def webhook_enable(*, principal: Principal, endpoint_id: UUID) -> WebhookEndpoint:
    """Call an endpoint again that was disabled after repeated failure.

    Raises: PermissionDenied, NotFound.
    """
    require_money_writer(principal)
    endpoint = (
        WebhookEndpoint.objects.select_for_update()
        .filter(pk=endpoint_id, organization_id=principal.organization_id)
        .first()
    )
    if endpoint is None:
        raise NotFound("No such webhook.")
    endpoint.enabled, endpoint.disabled_at = True, None
    endpoint.failures, endpoint.failing_since = 0, None
    endpoint.save(update_fields=["enabled", "disabled_at", "failures", "failing_since"])
    _record(Action.WEBHOOK_UPDATED, principal, endpoint.pk)
    return endpoint


@transaction.atomic
def webhook_replay(*, principal: Principal, delivery_id: UUID) -> WebhookDelivery:
    """Send a delivery again, with the same event id, delivered before or not.

    Raises: PermissionDenied, NotFound.
    """
    require_money_writer(principal)
    delivery = (
        WebhookDelivery.objects.select_for_update()
        .filter(pk=delivery_id, endpoint__organization_id=principal.organization_id)
        .first()
    )
    if delivery is None:
        raise NotFound("No such delivery.")
    deliveries_send_again(WebhookDelivery.objects.filter(pk=delivery.pk))
    delivery.refresh_from_db()
    return delivery


def deliveries_send_again(deliveries: QuerySet[WebhookDelivery]) -> int:
    """Make them due; one that is being sent, when that attempt is over. Returns how many."""
    return deliveries.update(
        attempts=0,
        delivered_at=None,
        next_attempt_at=Greatest(Now(), Coalesce("claimed_until", Now())),
    )


def _record(action: Action, principal: Principal, endpoint_id: UUID) -> None:
    record(
        action,
        organization_id=principal.organization_id,
        actor=principal,
        target=("webhook", endpoint_id),
    )
