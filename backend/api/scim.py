"""`/api/scim/v2`: an identity provider's directory, with a token of its organization.

Not a route of the OpenAPI document: SCIM describes itself (`/Schemas`, `/ResourceTypes`,
`/ServiceProviderConfig`), and has errors of its own.
"""

from collections.abc import Callable
from functools import partial
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
    EnterpriseUser,
    Error,
    ETag,
    Filter,
    Group,
    Meta,
    Patch,
    PatchOp,
    Required,
    ResourceType,
    ResponseParameters,
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
from backend.enterprise.scim.dialects import patch_sent, resource_sent
from backend.enterprise.scim.queries import MAX_COUNT, Page, listed, matched
from backend.enterprise.scim.resources import BASE, Person, group_resource, user_resource
from backend.platform.database import in_database
from backend.platform.errors import AuthenticationFailed, NotFound, ParleyError
from backend.platform.json import encode_json

_CONTENT_TYPE = "application/scim+json"
_ATTRIBUTES = ("attributes", "excludedAttributes")
_QUERY = ("filter", "sortBy", "sortOrder", "startIndex", "count", *_ATTRIBUTES)
_DESCRIBING = ("ServiceProviderConfig", "ResourceTypes", "Schemas")
_SEARCH = ".search"
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
    if path == _SEARCH:
        return 200, _everything(organization_id, request)
    if folder in ("Users", "Groups"):
        kind = _users if folder == "Users" else _groups
        return kind(organization_id, request, row_id)
    if folder not in _DESCRIBING:
        raise NotFound("There is no such endpoint.")
    _require(request, "GET")
    return 200, _description(folder, row_id)


def _users(organization_id: UUID, request: HttpRequest, user_id: str) -> Body:
    place, shown = {"organization_id": organization_id}, _shown(Person, request)
    if not user_id and request.method == "POST":
        sent = _sent(Person, request, Context.RESOURCE_CREATION_REQUEST)
        return 201, shown(user_resource(users.user_create(**place, resource=sent)))
    if user_id in ("", _SEARCH):
        search, asked = _search(SearchRequest[Person], request, is_posted=bool(user_id))
        columns = {"username": "user_name__iexact", "externalid": "external_id"}
        rows = users.users_of(organization_id)
        page = listed(rows, search, asked=asked, columns=columns, shown=user_resource)
        return 200, _list(page, search)
    if request.method == "DELETE":
        users.user_delete(**place, user_id=user_id)
        return 204, None
    _require(request, "GET", "PUT", "PATCH")
    row = users.user_get(**place, user_id=user_id)
    if request.method == "GET":
        return 200, shown(user_resource(row))
    if request.method == "PUT":
        sent = _sent(Person, request, Context.RESOURCE_REPLACEMENT_REQUEST)
    else:
        sent = user_resource(row)
        _patch(PatchOp[Person], request, sent)
    return 200, shown(user_resource(users.user_replace(**place, user_id=user_id, resource=sent)))


def _groups(organization_id: UUID, request: HttpRequest, group_id: str) -> Body:
    place, shown = {"organization_id": organization_id}, _shown(Group, request)
    if not group_id and request.method == "POST":
        sent = _sent(Group, request, Context.RESOURCE_CREATION_REQUEST)
        return 201, shown(group_resource(groups.group_create(**place, resource=sent)))
    if group_id in ("", _SEARCH):
        search, asked = _search(SearchRequest[Group], request, is_posted=bool(group_id))
        columns = {"displayname": "display_name__iexact", "externalid": "external_id"}
        rows = groups.groups_of(organization_id)
        page = listed(rows, search, asked=asked, columns=columns, shown=group_resource)
        return 200, _list(page, search)
    if request.method == "DELETE":
        groups.group_delete(**place, group_id=group_id)
        return 204, None
    _require(request, "GET", "PUT", "PATCH")
    row = groups.group_get(**place, group_id=group_id)
    if request.method == "GET":
        return 200, shown(group_resource(row))
    if request.method == "PUT":
        sent = _sent(Group, request, Context.RESOURCE_REPLACEMENT_REQUEST)
    else:
        sent = group_resource(row)
        _patch(PatchOp[Group], request, sent)
    return 200, shown(
        group_resource(groups.group_replace(**place, group_id=group_id, resource=sent))
    )


def _sent(model: Any, request: HttpRequest, context: Context) -> Any:
    return model.model_validate(resource_sent(loads(request.body)), scim_ctx=context)


def _patch(model: Any, request: HttpRequest, resource: Any) -> None:
    body = patch_sent(loads(request.body), resource)
    if isinstance(body, dict) and body.get("Operations") == []:
        return  # nothing of it is kept here
    model.model_validate(body, scim_ctx=Context.RESOURCE_PATCH_REQUEST).patch(resource)


def _everything(organization_id: UUID, request: HttpRequest) -> dict[str, Any]:
    """Users and groups that a POST to the root's `.search` looks for."""
    search, _ = _search(SearchRequest[Person | Group], request, is_posted=True)
    found: list[Any] = [user_resource(row) for row in users.users_of(organization_id)]
    found += [group_resource(row) for row in groups.groups_of(organization_id)]
    return _list(matched(found, search), search)


def _search(model: Any, request: HttpRequest, *, is_posted: bool) -> tuple[Any, str | None]:
    """What is looked for, in the query or in the body of a POST to `.search`."""
    if is_posted:
        _require(request, "POST")
        asked = loads(request.body)
        query = asked.get("filter") if isinstance(asked, dict) else None
    else:
        _require(request, "GET")
        asked = _parameters(request, _QUERY)
        query = asked.get("filter")
    search = model.model_validate(asked, scim_ctx=Context.SEARCH_REQUEST)
    return search, query if isinstance(query, str) else None


def _parameters(request: HttpRequest, names: tuple[str, ...]) -> dict[str, str]:
    asked = {name: request.GET[name] for name in names if name in request.GET}
    if any("\x00" in value or len(value) > 2000 for value in asked.values()):
        raise NotFound("A parameter is too long, or holds a NUL character.")
    return asked


def _require(request: HttpRequest, *methods: str) -> None:
    if request.method not in methods:
        raise MethodNotAllowedException(detail=f"There is no {request.method} here.")


class MethodNotAllowedException(SCIMException):
    status = 405


def _shown(model: Any, request: HttpRequest) -> Callable[[Any], dict[str, Any]]:
    """Turns a resource of this kind into the attributes that the request asks for."""
    asked = _parameters(request, _ATTRIBUTES)
    parameters = ResponseParameters[model].model_validate(asked) if asked else None
    return partial(_document, parameters=parameters)


def _document(resource: Any, *, parameters: Any = None) -> dict[str, Any]:
    shown: dict[str, Any] = resource.model_dump(
        scim_ctx=Context.RESOURCE_QUERY_RESPONSE, response_parameters=parameters
    )
    return shown


def _list(page: Page, search: Any) -> dict[str, Any]:
    return {
        "schemas": ["urn:ietf:params:scim:api:messages:2.0:ListResponse"],
        "totalResults": page.total,
        "startIndex": page.start,
        "itemsPerPage": len(page.resources),
        "Resources": [_document(one, parameters=search) for one in page.resources],
    }


def _description(folder: str, name: str) -> dict[str, Any]:
    """What SCIM says of itself. Raises NotFound."""
    if folder == "ServiceProviderConfig" and not name:
        return _document(_config())
    described: dict[str, list[Any]] = {
        "ResourceTypes": [ResourceType.from_resource(kind) for kind in (Person, Group)],
        "Schemas": [_schema(kind) for kind in (User, EnterpriseUser, Group)],
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


def _schema(kind: Any) -> Schema:
    """The standard's, with what differs here: each user is active or not, and members have
    no names of their own (RFC 7643, section 8.7.1)."""
    schema: Schema = kind.to_schema()
    for attribute in schema.attributes or []:
        if attribute.name == "active":
            attribute.required = Required.true
        if attribute.name == "members":
            parts = attribute.sub_attributes or []
            attribute.sub_attributes = [part for part in parts if part.name != "display"]
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
