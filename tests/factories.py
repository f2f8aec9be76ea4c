"""Rows for tests, each with everything around it that the product would have made.

`member()` is the usual start: a user in an organization, as the Principal that services take.
Two calls give two tenants.
"""

from typing import Any

import factory
from allauth.account.models import EmailAddress
from factory.django import DjangoModelFactory

from backend.accounts.authentication import plan_limits
from backend.accounts.keys import secret_generate, secret_hash, secret_shown
from backend.accounts.models import APIKey, Membership, Organization, Project, Role, User
from backend.accounts.principal import Principal
from backend.conversations.models import Conversation, Message

MODEL = "smollm2-135m"


class UserFactory(DjangoModelFactory[User]):
    class Meta:
        model = User
        skip_postgeneration_save = True

    email = factory.Sequence(lambda n: f"user{n}@example.org")
    name = factory.Sequence(lambda n: f"User {n}")

    @factory.post_generation
    def verified(self: User, create: bool, given: bool | None, **kwargs: Any) -> None:
        """Their address is verified, unless a test says `verified=False`."""
        if create and given is not False:
            EmailAddress.objects.create(user=self, email=self.email, verified=True, primary=True)

    @factory.post_generation
    def password(self: User, create: bool, given: str | None, **kwargs: Any) -> None:
        """Hashing takes time by design, so a user has a password only where a test names one."""
        if given is None:
            self.set_unusable_password()
        else:
            self.set_password(given)
        if create:
            self.save(update_fields=["password"])


class OrganizationFactory(DjangoModelFactory[Organization]):
    """With its default project, as every organization has one."""

    class Meta:
        model = Organization
        skip_postgeneration_save = True

    name = factory.Sequence(lambda n: f"Organization {n}")
    plan_id = "free"

    @factory.post_generation
    def default_project(self: Organization, create: bool, *args: Any, **kwargs: Any) -> None:
        if create:
            Project.objects.create(organization=self, name="Default", is_default=True)


class ProjectFactory(DjangoModelFactory[Project]):
    class Meta:
        model = Project

    organization = factory.SubFactory(OrganizationFactory)
    name = factory.Sequence(lambda n: f"Project {n}")


class MembershipFactory(DjangoModelFactory[Membership]):
    class Meta:
        model = Membership

    organization = factory.SubFactory(OrganizationFactory)
    user = factory.SubFactory(UserFactory)
    role = Role.OWNER


class ConversationFactory(DjangoModelFactory[Conversation]):
    class Meta:
        model = Conversation
        exclude = ("membership",)

    membership = factory.SubFactory(MembershipFactory)
    organization = factory.SelfAttribute("membership.organization")
    user = factory.SelfAttribute("membership.user")
    model = MODEL


class MessageFactory(DjangoModelFactory[Message]):
    """A message with the given `text`; it does not become the active one by itself."""

    class Meta:
        model = Message

    conversation = factory.SubFactory(ConversationFactory)
    role = "user"
    text = factory.Sequence(lambda n: f"Message {n}")
    content = factory.LazyAttribute(lambda m: [{"type": "text", "text": m.text}])


def member(
    *, organization: Organization | None = None, role: str = Role.OWNER, **user: Any
) -> Principal:
    """A new user with a role in `organization` (a new one where None), as their session sees it."""
    organization = organization or OrganizationFactory.create()
    membership = MembershipFactory.create(
        organization=organization, role=role, user=UserFactory.create(**user)
    )
    return principal_of(membership)


def principal_of(membership: Membership) -> Principal:
    organization = membership.organization
    return Principal(
        organization_id=organization.pk,
        project_id=organization.projects.get(is_default=True).pk,
        user_id=membership.user_id,
        key_id=None,
        role=membership.role,
        plan=plan_limits(organization.plan),
    )


def conversation_of(principal: Principal, **fields: Any) -> Conversation:
    """An empty conversation of the caller."""
    return Conversation.objects.create(
        organization_id=principal.organization_id,
        user_id=principal.user_id,
        **{"model": MODEL, **fields},
    )


def api_key_of(principal: Principal | None = None, **fields: Any) -> tuple[APIKey, str]:
    """A key of the caller (a new one where None), and its secret."""
    principal = principal or member()
    secret = secret_generate()
    key = APIKey.objects.create(
        organization_id=principal.organization_id,
        project_id=principal.project_id,
        created_by_id=principal.user_id,
        prefix=secret_shown(secret),
        sha256=secret_hash(secret),
        **{"name": "A key", **fields},
    )
    return key, secret
