"""`/api/organization/sso`, `/sign-in-policy`, `/scim`, `/group-rules`, `/ip-allow-list`: how people
come in.

Owners set it, what groups give admins too. Every change needs a sign-in of the last ten minutes,
and stands in the audit log.
"""

from uuid import UUID

from ninja import Router, Status

from backend.accounts.models import OrganizationDomain
from backend.accounts.principal import AuthenticatedRequest, Principal
from backend.api import throttling
from backend.api.authentication import SessionOnly
from backend.api.schemas.enterprise import (
    DirectoryOut,
    GroupRuleOut,
    GroupRulesOut,
    GroupRulesUpdate,
    MetadataBody,
    MetadataOut,
    NetworkOut,
    NetworksOut,
    NetworksUpdate,
    NewDirectoryTokenOut,
    SignInPolicyOut,
    SignInPolicyUpdate,
    SSOOut,
    SSOPageOut,
    SSOUpdate,
)
from backend.api.sign_in import require_recent
from backend.api.sso import scim_url, start_url
from backend.enterprise import oidc, saml_settings
from backend.enterprise.connections import (
    Wanted,
    connection_delete,
    connection_get,
    connection_set,
    identities_forget,
    require_owner,
)
from backend.enterprise.directory_tokens import (
    directory_summary,
    directory_token_create,
    directory_token_delete,
)
from backend.enterprise.group_rules import (
    Given,
    group_rules_list,
    group_rules_set,
    groups_known,
)
from backend.enterprise.models import Connection, Protocol
from backend.enterprise.networks import Allowed, networks_list, networks_set
from backend.enterprise.saml_metadata import metadata_read
from backend.enterprise.sign_in_policy import sign_in_policy_get, sign_in_policy_set
from backend.platform.database import in_database

router = Router(tags=["organization security"], auth=SessionOnly())


@router.get("/sso", response=SSOPageOut)
async def get_sso(request: AuthenticatedRequest) -> SSOPageOut:
    """The identity provider, and what its administrator has to know of this installation."""
    found = await in_database(connection_get, principal=request.auth)
    return await in_database(_page, request, found)


@router.put("/sso", response=SSOPageOut)
async def set_sso(request: AuthenticatedRequest, body: SSOUpdate) -> SSOPageOut:
    """Set the identity provider. Another issuer is another provider, with identities anew. An OIDC
    issuer that people are to sign in through has to answer now."""
    await require_recent(request)
    require_owner(request.auth)
    if body.protocol == Protocol.OIDC and body.is_enabled:
        await throttling.count_use(request, request.auth, "reads of a provider's metadata")
        await oidc.issuer_try(body.issuer)
    found = await in_database(
        connection_set, principal=request.auth, wanted=Wanted(**body.model_dump())
    )
    return await in_database(_page, request, found)


@router.post("/sso/metadata", response=MetadataOut)
async def read_metadata(request: AuthenticatedRequest, body: MetadataBody) -> MetadataOut:
    """What a SAML provider's metadata says, for the form. Nothing is saved."""
    require_owner(request.auth)
    await throttling.count_use(request, request.auth, "reads of a provider's metadata")
    return MetadataOut.model_validate(await metadata_read(body.metadata))


@router.delete("/sso", response={204: None})
async def delete_sso(request: AuthenticatedRequest) -> Status:
    """Remove it. Accounts stay; who has no password resets it by mail."""
    await require_recent(request)
    await in_database(connection_delete, principal=request.auth)
    return Status(204, None)


@router.delete("/sso/identities", response={204: None})
async def forget_identities(request: AuthenticatedRequest, user_id: UUID | None = None) -> Status:
    """Forget the provider's subjects, of one member or of all: the next sign-in links them by
    address. For a provider that gives people other subjects (`sso_address_reused`)."""
    await require_recent(request)
    await in_database(identities_forget, principal=request.auth, user_id=user_id)
    return Status(204, None)


@router.get("/sign-in-policy", response=SignInPolicyOut)
async def get_sign_in_policy(request: AuthenticatedRequest) -> SignInPolicyOut:
    """Whether members need a second factor, and how many have none."""
    return await _sign_in_policy(request)


@router.put("/sign-in-policy", response=SignInPolicyOut)
async def set_sign_in_policy(
    request: AuthenticatedRequest, body: SignInPolicyUpdate
) -> SignInPolicyOut:
    """Demand a second factor, or not. 409 `second_factor_needed`: the caller has none."""
    await require_recent(request)
    await in_database(sign_in_policy_set, principal=request.auth, **body.model_dump())
    return await _sign_in_policy(request)


@router.get("/scim", response=DirectoryOut)
async def get_directory(request: AuthenticatedRequest) -> DirectoryOut:
    """Whether a directory may call SCIM, and what it has sent."""
    summary = await in_database(directory_summary, principal=request.auth)
    return DirectoryOut(url=scim_url(), **summary)


@router.post("/scim", response={201: NewDirectoryTokenOut})
async def create_directory_token(request: AuthenticatedRequest) -> Status:
    """A token for the directory; an earlier one stops working."""
    await require_recent(request)
    token = await in_database(directory_token_create, principal=request.auth)
    return Status(201, NewDirectoryTokenOut(token=token, url=scim_url()))


@router.delete("/scim", response={204: None})
async def delete_directory_token(request: AuthenticatedRequest) -> Status:
    """The directory gets no answer any more; its users stay as they are."""
    await require_recent(request)
    await in_database(directory_token_delete, principal=request.auth)
    return Status(204, None)


@router.get("/group-rules", response=GroupRulesOut)
async def get_group_rules(request: AuthenticatedRequest) -> GroupRulesOut:
    """What groups of the identity provider or the directory give. For owners and admins."""
    return await in_database(_group_rules, request.auth)


@router.put("/group-rules", response=GroupRulesOut)
async def set_group_rules(request: AuthenticatedRequest, body: GroupRulesUpdate) -> GroupRulesOut:
    """Replace them; people have what they say within seconds. Only an owner maps to `owner`."""
    await require_recent(request)
    rules = [
        Given(one.group, one.role or "", one.project_id, one.project_role or "")
        for one in body.rules
    ]
    await in_database(group_rules_set, principal=request.auth, rules=rules)
    return await in_database(_group_rules, request.auth)


@router.get("/ip-allow-list", response=NetworksOut)
async def get_networks(request: AuthenticatedRequest) -> NetworksOut:
    """From where the organization may be used; an empty list means anywhere."""
    return await _networks(request)


@router.put("/ip-allow-list", response=NetworksOut)
async def set_networks(request: AuthenticatedRequest, body: NetworksUpdate) -> NetworksOut:
    """Replace the list. 409 `lockout` where it lacks the caller's own address."""
    await require_recent(request)
    await in_database(
        networks_set,
        principal=request.auth,
        networks=[Allowed(**one.model_dump()) for one in body.networks],
        address=request.META.get("REMOTE_ADDR", ""),
        confirm_lockout=body.confirm_lockout,
    )
    return await _networks(request)


def _group_rules(principal: Principal) -> GroupRulesOut:
    return GroupRulesOut(
        rules=[
            GroupRuleOut(
                group=rule.group,
                role=rule.role or None,
                project_id=rule.project_id,
                project_role=rule.project_role or None,
            )
            for rule in group_rules_list(principal=principal)
        ],
        known_groups=groups_known(principal=principal),
    )


async def _sign_in_policy(request: AuthenticatedRequest) -> SignInPolicyOut:
    rules = await in_database(sign_in_policy_get, principal=request.auth)
    return SignInPolicyOut.model_validate(rules)


async def _networks(request: AuthenticatedRequest) -> NetworksOut:
    rows = await in_database(networks_list, principal=request.auth)
    return NetworksOut(
        networks=[NetworkOut.model_validate(row) for row in rows],
        your_address=request.META.get("REMOTE_ADDR", ""),
    )


def _page(request: AuthenticatedRequest, found: Connection | None) -> SSOPageOut:
    domains = OrganizationDomain.objects.filter(
        organization_id=request.auth.organization_id, verified_at__isnull=False
    )
    place = request.auth.organization_id
    connection_id = saml_settings.connection_id_for(place) if found is None else found.pk
    return SSOPageOut(
        connection=None if found is None else _shown(found),
        redirect_uri=oidc.callback_url(),
        logged_out_url=oidc.logged_out_url(),
        backchannel_logout_url=oidc.backchannel_logout_url(connection_id),
        entity_id=saml_settings.entity_id(connection_id),
        acs_url=saml_settings.acs_url(connection_id),
        logout_url=saml_settings.logout_url(connection_id),
        start_url=start_url(connection_id),
        verified_domains=list(domains.order_by("domain").values_list("domain", flat=True)),
    )


def _shown(connection: Connection) -> SSOOut:
    is_oidc = connection.protocol == Protocol.OIDC
    of_oidc = {"client_id", "takes_unstated_email", "returns_after_logout"}
    names = SSOOut.model_fields.keys() - of_oidc - {"sso_url", "slo_url", "certificates"}
    return SSOOut(
        **{name: getattr(connection, name) for name in names},
        client_id=connection.oidc.client_id if is_oidc else "",
        takes_unstated_email=is_oidc and connection.oidc.takes_unstated_email,
        returns_after_logout=is_oidc and connection.oidc.returns_after_logout,
        sso_url="" if is_oidc else connection.saml.sso_url,
        slo_url="" if is_oidc else connection.saml.slo_url,
        certificates="" if is_oidc else connection.saml.certificates,
    )
