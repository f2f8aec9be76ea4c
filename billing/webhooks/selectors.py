"""What an organization may see of its webhooks."""

from backend.accounts.principal import Principal
from billing.models import WebhookDelivery, WebhookEndpoint
from billing.permissions import require_manager

SHOWN = 100


def endpoints_list(*, principal: Principal) -> list[WebhookEndpoint]:
    """Raises PermissionDenied."""
    require_manager(principal)
    return list(WebhookEndpoint.objects.filter(organization_id=principal.organization_id))


def deliveries_list(*, principal: Principal) -> list[WebhookDelivery]:
    """Newest first. Raises PermissionDenied."""
    require_manager(principal)
    mine = WebhookDelivery.objects.filter(endpoint__organization_id=principal.organization_id)
    return list(mine[:SHOWN])
