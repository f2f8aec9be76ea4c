"""The ninja application: every route, its authentication, its errors, its OpenAPI document."""

from backend.accounts.scopes import Scope
from backend.api.authentication import BearerKey, MessagesKey, SessionOnly, SessionOrKey
from backend.api.errors import install_error_handlers
from backend.api.openapi import ParleyAPI
from backend.api.parsing import StrictParser
from backend.api.renderer import JSONRenderer
from backend.api.routes import (
    announcements,
    anthropic_messages,
    assistants,
    attachments,
    audio,
    audit_log,
    auth,
    batches,
    chat,
    chat_transfer,
    completions,
    conversations,
    domains,
    embeddings,
    files,
    generations,
    keys,
    me,
    memories,
    messages,
    models,
    moderations,
    openai_conversations,
    openai_directory,
    openai_organization,
    openai_projects,
    openai_usage,
    organization,
    organization_security,
    privacy,
    projects,
    request_logs,
    rerank,
    responses,
    security,
    shared_files,
    shares,
    sso,
    stored_chats,
    tool_sign_in,
    tools,
    usage,
)
from backend.api.schemas.openai_responses import GENERATION_RESPONSES, RESPONSE_CREATED
from billing import api as billing_routes
from billing import openai_api as organization_routes
from billing.payments import api as payments
from safety.audit import api as safety_routes

api = ParleyAPI(
    title="Parley",
    version="1",
    description=(
        "`/v1` is OpenAI-compatible and takes API keys. `/api` is the product: API keys, or a"
        " session cookie with `X-CSRFToken`. Guide: docs/api.md."
    ),
    urls_namespace="api",
    parser=StrictParser(),
    renderer=JSONRenderer(),
    # Served by views.py: the document without a hop through a thread, the reference without
    # another origin's assets.
    openapi_url=None,
    docs_url=None,
)
install_error_handlers(api)

_key = BearerKey(Scope.INFERENCE)
for router in (
    stored_chats.router,
    completions.router,
    embeddings.router,
    rerank.router,
    models.openai_router,
    moderations.router,
    responses.router,
    files.router,
    batches.router,
):
    api.add_router("/v1", router, auth=_key)

api.add_router("/v1/audio", audio.router, auth=_key)
api.add_router("/v1", anthropic_messages.router, auth=MessagesKey(Scope.INFERENCE))
# The page shows them, so who reads and writes them here needs the page's scope.
api.add_router("/v1", openai_conversations.router, auth=BearerKey(Scope.CONVERSATIONS))

_inference = SessionOrKey(Scope.INFERENCE)
api.add_router("/api", chat.product_router, auth=_inference)
api.add_router("/api/audio", audio.product_router, auth=_inference)
api.add_router("/api/models", models.product_router, auth=_inference)
api.add_router("/api/generations", generations.router, auth=_inference)

_conversations = SessionOrKey(Scope.CONVERSATIONS)
api.add_router("/api/conversations", conversations.router, auth=_conversations)
api.add_router("/api/conversations", chat_transfer.router, auth=_conversations)
api.add_router("/api", messages.router, auth=_conversations)
api.add_router("/api", memories.router, auth=_conversations)
api.add_router("/api", shares.router, auth=_conversations)
api.add_router("/api/attachments", attachments.router, auth=_conversations)
api.add_router("/api/assistants", assistants.router, auth=_conversations)
api.add_router("/api/assistants", shared_files.assistants, auth=_conversations)
api.add_router("/api/appeals", safety_routes.router, auth=_conversations)

api.add_router("/api/keys", keys.router, auth=SessionOrKey(Scope.KEYS))
api.add_router("/api/request-logs", request_logs.router, auth=SessionOnly())
_administration = SessionOrKey(Scope.ADMINISTRATION)
api.add_router("/api/organization", organization.router, auth=_administration)
api.add_router("/api/organization", domains.router, auth=_administration)
api.add_router("/api/projects", projects.router, auth=_administration)
api.add_router("/api/projects", shared_files.projects, auth=_administration)
_usage = SessionOrKey(Scope.USAGE)
api.add_router("/api/usage", usage.router, auth=_usage)
# An organization that is suspended for want of payment has to see what it owes, and to pay.
api.add_router("/api/invoices", billing_routes.invoices, auth=SessionOrKey(Scope.USAGE, gate=False))
# A key that reads usage must not choose a plan or spend what a card holds.
api.add_router("/api/billing", payments.billing, auth=SessionOnly(gate=False))
api.add_router("/api/payments", payments.events)  # known by the provider's signature
api.add_router("/api/budgets", billing_routes.budgets, auth=_usage)
api.add_router("/api/credit", billing_routes.credit, auth=_usage)
api.add_router("/api/webhooks", billing_routes.webhooks, auth=_usage)
api.add_router("/v1/organization", organization_routes.router, auth=BearerKey(Scope.USAGE))
_administers = BearerKey(Scope.ADMINISTRATION)
api.add_router("/v1/organization", openai_organization.router, auth=_administers)
api.add_router("/v1/organization", openai_projects.router, auth=_administers)
api.add_router("/v1/organization", openai_directory.router, auth=_administers)
api.add_router("/v1/organization", openai_usage.router, auth=BearerKey(Scope.USAGE))
api.add_router("/api/announcements", announcements.router, auth=SessionOnly(gate=False))
api.add_router("/api/audit-log", audit_log.product_router, auth=SessionOrKey(Scope.AUDIT))
api.add_router("/v1/organization", audit_log.openai_router, auth=BearerKey(Scope.AUDIT))
api.add_router("/api", privacy.router)
api.add_router("/api/me", me.router)
api.add_router("/api/me", security.router)
api.add_router("/api/auth", auth.router)
api.add_router("/api/auth/sso", sso.router)
api.add_router("/api/organization", organization_security.router)
api.add_router("/api", tools.router)
api.add_router("/api", tool_sign_in.router)


def generation_paths() -> frozenset[str]:
    """Where programs ask for a generation: the routes that declare `GENERATION_RESPONSES` or
    `RESPONSE_CREATED`. Load shedding counts what comes there (asgi.py)."""
    declared = [one["openapi_extra"] for one in (GENERATION_RESPONSES, RESPONSE_CREATED)]
    return frozenset(
        prefix + path
        for prefix, router in api._routers
        for path, view in router.path_operations.items()
        for operation in view.operations
        if any(operation.openapi_extra is one for one in declared)
    )
