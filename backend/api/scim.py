"""`/api/scim/v2`: an identity provider's directory, with a token of its organization.

Not a route of the OpenAPI document: SCIM describes itself (`/Schemas`, `/ResourceTypes`,
`/ServiceProviderConfig`), and has errors of its own.
"""

from typing import Any
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from pydantic import ValidationError
from scim2_models import (
    AuthenticationScheme,
    Bulk,
    ChangePassword,
    Context,
    Error,
    ETag,
    Filter,
    Group,
    Meta,
    Patch,
    PatchOp,
    ResourceType,
    Schema,
    SCIMException,
    SearchRequest,
    ServiceProviderConfig,
    Sort,
    User,
)

from backend.api import throttling
from backend.api.authentication import bearer_parts
from backend.api.parsing import loads
from backend.enterprise.directory_tokens import PREFIX, organization_of_token
from backend.enterprise.gate import require_directory_gate
from backend.enterprise.scim import groups, users
from backend.enterprise.scim.queries import MAX_COUNT, Page, listed
from backend.enterprise.scim.resources import BASE, group_resource, user_resource
from backend.platform.database import in_database
from backend.platform.errors import AuthenticationFailed, NotFound, ParleyError
from backend.platform.json import encode_json

_CONTENT_TYPE = "application/scim+json"
_QUERY = ("filter", "sortBy", "sortOrder", "startIndex", "count")
Body = tuple[int, dict[str, Any] | None]


async def answer(request: HttpRequest, path: str) -> HttpResponse:
    """One request of a directory."""
    try:
        organization_id = await directory_organization(request)
        status, document = await in_database(_answer, organization_id, request, path.strip("/"))
    except SCIMException as error:
        status, document = error.status, error.to_error().model_dump()
    except ValidationError as error:
        found = Error.from_validation_error(error.errors()[0])
        status, document = int(found.status or 400), found.model_dump()
    except ParleyError as error:
        status = error.status
        document = Error(status=status, detail=error.message).model_dump()
    response = HttpResponse(status=status, content_type=_CONTENT_TYPE)
    if document is not None:
        response.content = encode_json(document)
    if status == 401:
        response["WWW-Authenticate"] = "Bearer"
    return response


async def directory_organization(request: HttpRequest) -> UUID:
    kind, token = bearer_parts(request.headers.get("Authorization", ""))
    found = None
    if kind == "bearer" and token.startswith(PREFIX):
        found = await in_database(organization_of_token, token)
    if found is None:
        await throttling.count_unseen_key(request)
        raise AuthenticationFailed("This is no SCIM token of an organization.")
    await require_directory_gate(found, address=str(request.META.get("REMOTE_ADDR", "")))
    return found


def _answer(organization_id: UUID, request: HttpRequest, path: str) -> Body:
    folder, _, row_id = path.partition("/")
    if folder in ("Users", "Groups"):
        kind = _users if folder == "Users" else _groups
        return kind(organization_id, request, row_id)
    if request.method != "GET":
        raise NotFound("There is no such endpoint.")
    return 200, _description(folder, row_id)


def _users(organization_id: UUID, request: HttpRequest, user_id: str) -> Body:
    place = {"organization_id": organization_id}
    if not user_id:
        if request.method == "POST":
            sent = _sent(User, request, Context.RESOURCE_CREATION_REQUEST)
            return 201, _document(user_resource(users.user_create(**place, resource=sent)))
        search, asked = _search(SearchRequest[User], request)
        columns = {"username": "user_name__iexact", "externalid": "external_id"}
        rows = users.users_of(organization_id)
        return 200, _list(listed(rows, search, asked=asked, columns=columns, shown=user_resource))
    if request.method == "DELETE":
        users.user_delete(**place, user_id=user_id)
        return 204, None
    row = users.user_get(**place, user_id=user_id)
    if request.method == "PUT":
        sent = _sent(User, request, Context.RESOURCE_REPLACEMENT_REQUEST)
    elif request.method == "PATCH":
        sent = user_resource(row)
        _sent(PatchOp[User], request, Context.RESOURCE_PATCH_REQUEST).patch(sent)
    else:
        _require_get(request)
        return 200, _document(user_resource(row))
    return 200, _document(
        user_resource(users.user_replace(**place, user_id=user_id, resource=sent))
    )


def _groups(organization_id: UUID, request: HttpRequest, group_id: str) -> Body:
    place = {"organization_id": organization_id}
    if not group_id:
        if request.method == "POST":
            sent = _sent(Group, request, Context.RESOURCE_CREATION_REQUEST)
            return 201, _document(group_resource(groups.group_create(**place, resource=sent)))
        search, asked = _search(SearchRequest[Group], request)
        columns = {"displayname": "display_name__iexact", "externalid": "external_id"}
        rows = groups.groups_of(organization_id)
        return 200, _list(listed(rows, search, asked=asked, columns=columns, shown=group_resource))
    if request.method == "DELETE":
        groups.group_delete(**place, group_id=group_id)
        return 204, None
    row = groups.group_get(**place, group_id=group_id)
    if request.method == "PUT":
        sent = _sent(Group, request, Context.RESOURCE_REPLACEMENT_REQUEST)
    elif request.method == "PATCH":
        sent = group_resource(row)
        _sent(PatchOp[Group], request, Context.RESOURCE_PATCH_REQUEST).patch(sent)
    else:
        _require_get(request)
        return 200, _document(group_resource(row))
    return 200, _document(
        group_resource(groups.group_replace(**place, group_id=group_id, resource=sent))
    )


def _sent(model: Any, request: HttpRequest, context: Context) -> Any:
    return model.model_validate(loads(request.body), scim_ctx=context)


def _search(model: Any, request: HttpRequest) -> tuple[Any, str | None]:
    _require_get(request)
    asked = {name: request.GET[name] for name in _QUERY if name in request.GET}
    if any("\x00" in value or len(value) > 2000 for value in asked.values()):
        raise NotFound("A parameter is too long, or holds a NUL character.")
    search = model.model_validate(asked, scim_ctx=Context.SEARCH_REQUEST)
    return search, asked.get("filter")


def _require_get(request: HttpRequest) -> None:
    if request.method != "GET":
        raise NotFound(f"There is no {request.method} here.")


def _document(resource: Any) -> dict[str, Any]:
    shown: dict[str, Any] = resource.model_dump(scim_ctx=Context.RESOURCE_QUERY_RESPONSE)
    return shown


def _list(page: Page) -> dict[str, Any]:
    return {
        "schemas": ["urn:ietf:params:scim:api:messages:2.0:ListResponse"],
        "totalResults": page.total,
        "startIndex": page.start,
        "itemsPerPage": len(page.resources),
        "Resources": [_document(one) for one in page.resources],
    }


def _description(folder: str, name: str) -> dict[str, Any]:
    """What SCIM says of itself. Raises NotFound."""
    if folder == "ServiceProviderConfig" and not name:
        return _document(_config())
    described: dict[str, list[Any]] = {
        "ResourceTypes": [ResourceType.from_resource(kind) for kind in (User, Group)],
        "Schemas": [_with_meta(kind.to_schema()) for kind in (User, Group)],
    }
    if folder not in described:
        raise NotFound("There is no such endpoint.")
    found = described[folder]
    if not name:
        page = [_document(one) for one in found]
        return {
            "schemas": ["urn:ietf:params:scim:api:messages:2.0:ListResponse"],
            "totalResults": len(page),
            "startIndex": 1,
            "itemsPerPage": len(page),
            "Resources": page,
        }
    one = next((one for one in found if name in (one.id, getattr(one, "name", None))), None)
    if one is None:
        raise NotFound("There is no such endpoint.")
    return _document(one)


def _with_meta(schema: Schema) -> Schema:
    location = f"{settings.PUBLIC_URL}{BASE}/Schemas/{schema.id}"
    schema.meta = Meta(resource_type="Schema", location=location)
    return schema


def _config() -> ServiceProviderConfig:
    return ServiceProviderConfig(
        patch=Patch(supported=True),
        bulk=Bulk(supported=False, max_operations=0, max_payload_size=0),
        filter=Filter(supported=True, max_results=MAX_COUNT),
        change_password=ChangePassword(supported=False),
        sort=Sort(supported=True),
        etag=ETag(supported=False),
        authentication_schemes=[
            AuthenticationScheme(
                type=AuthenticationScheme.Type.oauthbearertoken,
                name="Bearer token",
                description="The organization's SCIM token.",
            )
        ],
    )
