"""What every installation has from its first `migrate` on: the plans and the staff groups.

Kept by `post_migrate` rather than written by one migration: permissions exist only after the
migrations of their app, groups span apps that accounts must not depend on, and a flushed test
database gets both again. Plans are only created, never changed: an administrator may have set
other limits. The groups' permissions are this table, on each migrate; whoever wants another
mix makes a group of their own.
"""

from django.apps import AppConfig
from django.contrib.auth.models import Group, Permission
from django.db.models import Q

from backend.accounts.models import Plan

PLANS = [
    # slug, name, queue_priority, requests/min, tokens/min, concurrent generations, seats
    ("premium", "Premium", 0, 600, 2_000_000, 64, None),
    ("standard", "Standard", 10, 120, 400_000, 16, 50),
    ("free", "Free", 20, 20, 60_000, 4, 5),
]

# slug: bytes of files, requests of a batch, batches at a time
BATCH_QUOTAS = {
    "premium": (20_000_000_000, 100_000, 50),
    "standard": (2_000_000_000, 50_000, 10),
    "free": (100_000_000, 1_000, 2),
}

# slug: bytes of a person's attachments, conversations of a person, keys of an organization
KEPT_QUOTAS = {
    "premium": (100_000_000_000, None, 10_000),
    "standard": (10_000_000_000, 200_000, 1_000),
    "free": (1_000_000_000, 10_000, 100),
}

READ_ACCOUNTS = [
    "accounts.view_user",
    "accounts.view_organization",
    "accounts.view_membership",
    "accounts.view_plan",
    "accounts.view_project",
    "accounts.view_suspension",
]

# "app.codename"; a codename that ends with _* stands for every model of the app.
GROUPS: dict[str, list[str]] = {
    # Sees money and what it is made of; never what anybody wrote.
    "Finance": [
        *READ_ACCOUNTS,
        "accounts.change_organization",  # the plan
        "generation.view_generation",
        "billing.view_*",
        "billing.add_*",
        "billing.change_*",
    ],
    # Helps users with accounts, keys and limits; sees that a conversation exists, not what it says.
    "Support": [
        *READ_ACCOUNTS,
        "accounts.change_user",
        "accounts.change_organization",
        "accounts.view_apikey",
        "accounts.change_apikey",  # revoke
        "conversations.view_conversation",
        "generation.view_generation",
        "billing.view_*",
    ],
    # Judges what the classifiers caught; each look at content is written down.
    "Safety reviewers": [
        *READ_ACCOUNTS,
        "conversations.view_conversation",
        "conversations.view_content",
        "conversations.view_contentaccess",
        "conversations.view_feedback",
        "generation.view_generation",
        "audit.view_*",
        "audit.add_*",
        "audit.change_*",
    ],
}


def defaults_ensure(sender: AppConfig, **kwargs: object) -> None:
    """Receives `post_migrate` of each app, after Django has made that app's permissions."""
    if sender.label == "accounts":
        plans_ensure(Plan)
    for name, wanted in GROUPS.items():
        _group_ensure(name, wanted, sender.label)


def plans_ensure(plan_model: type[Plan]) -> None:
    """Create the plans that are missing; also called by a migration, with its own model."""
    known = {field.name for field in plan_model._meta.get_fields()}  # a migration's may have fewer
    for slug, name, priority, requests, tokens, concurrent, seats in PLANS:
        values = {
            "name": name,
            "queue_priority": priority,
            "requests_per_minute": requests,
            "tokens_per_minute": tokens,
            "concurrent_generations": concurrent,
            "seats": seats,
            **batch_quotas_of(slug),
            **kept_quotas_of(slug),
        }
        defaults = {field: value for field, value in values.items() if field in known}
        plan_model.objects.get_or_create(slug=slug, defaults=defaults)


def batch_quotas_of(slug: str) -> dict[str, int]:
    """The columns of `Plan` that bound files and batches; empty for a plan of one's own."""
    quotas = BATCH_QUOTAS.get(slug)
    return dict(zip(("file_bytes", "batch_lines", "open_batches"), quotas or (), strict=False))


def kept_quotas_of(slug: str) -> dict[str, int | None]:
    """The columns of `Plan` that bound what is kept beside files; empty for a plan of one's own."""
    names = ("attachment_bytes", "conversations", "api_keys")
    return dict(zip(names, KEPT_QUOTAS.get(slug, ()), strict=False))


def _group_ensure(name: str, wanted: list[str], app_label: str) -> None:
    """Make the group's permissions of one app exactly those of the table."""
    of_this_app = [codename for app, codename in (p.split(".") for p in wanted) if app == app_label]
    group, _ = Group.objects.get_or_create(name=name)
    if not of_this_app:
        return
    matching = Q(pk__in=[])
    for codename in of_this_app:
        if codename.endswith("*"):
            matching |= Q(codename__startswith=codename.removesuffix("*"))
        else:
            matching |= Q(codename=codename)
    permissions = Permission.objects.filter(content_type__app_label=app_label)
    group.permissions.remove(*permissions.exclude(matching))
    group.permissions.add(*permissions.filter(matching))
