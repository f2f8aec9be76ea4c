"""Translate what directories send beside the standard, before scim2-models reads it.

Microsoft Entra removes members by a list of them, sets a value of a kind that the user does not
have yet (`emails[type eq "other"].value`), writes booleans as text, and gives a manager as text;
without a path it writes paths as attributes. Okta and others name schemas that nobody here knows.
Source: "Known issues and resolutions with SCIM 2.0 protocol compliance" (Microsoft Learn).
"""

import re
from typing import Any
from urllib.parse import quote

from django.conf import settings
from pydantic import BaseModel

ENTERPRISE = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"
KNOWN_SCHEMAS = {
    "urn:ietf:params:scim:schemas:core:2.0:User",
    "urn:ietf:params:scim:schemas:core:2.0:Group",
    ENTERPRISE,
}
MAX_OPERATIONS = 1_000
_OF_KIND = re.compile(r'(\w+)\[type eq "([^"\\]{1,100})"\]\.(\w+)', re.IGNORECASE)
_TEXT_BOOLEANS = {"true": True, "false": False}


def resource_sent(body: Any) -> Any:
    """A user or group without the schemas, and their extensions, that are not kept here."""
    if not isinstance(body, dict):
        return body
    found = {name: value for name, value in body.items() if not _is_unknown_schema(name)}
    schemas = found.get("schemas")
    if isinstance(schemas, list):
        found["schemas"] = [one for one in schemas if one in KNOWN_SCHEMAS]
    if isinstance(found.get("active"), str):
        found["active"] = _boolean(found["active"])
    extension = found.get(ENTERPRISE)
    if isinstance(extension, dict) and "manager" in extension:
        found[ENTERPRISE] = {**extension, "manager": _manager(extension["manager"])}
    return found


def patch_sent(body: Any, resource: BaseModel) -> Any:
    """A patch of `resource` with operations that the standard has."""
    if not isinstance(body, dict):
        return body
    name = next((one for one in body if one.lower() == "operations"), "Operations")
    operations = body.get(name)
    if not isinstance(operations, list) or len(operations) > MAX_OPERATIONS:
        return body
    shown = resource.model_dump(mode="json", by_alias=True)
    found: list[Any] = []
    for operation in operations:
        found += _standard(operation, shown) if isinstance(operation, dict) else [operation]
    return {**body, name: found}


def _standard(operation: dict[str, Any], shown: dict[str, Any]) -> list[dict[str, Any]]:
    kind = str(operation.get("op", "")).lower()
    path, value = operation.get("path"), operation.get("value")
    if path is None and isinstance(value, dict) and kind in ("add", "replace"):
        return _without_path(kind, value, shown)
    if not isinstance(path, str) or _is_unknown_schema(path):
        return [] if isinstance(path, str) else [operation]
    if kind == "remove" and path.lower() == "members" and isinstance(value, list):
        ids = [one.get("value") for one in value if isinstance(one, dict)]
        return [{"op": kind, "path": f'members[value eq "{one}"]'} for one in ids]
    of_kind = _OF_KIND.fullmatch(path)
    if of_kind and kind in ("add", "replace") and not _has_kind(shown, of_kind[1], of_kind[2]):
        entry = {"type": of_kind[2], of_kind[3]: value}
        shown.setdefault(of_kind[1], None)
        shown[of_kind[1]] = [*(shown[of_kind[1]] or []), entry]
        return [{"op": "add", "path": of_kind[1], "value": [entry]}]
    if path.lower() == f"{ENTERPRISE}:manager".lower():
        value = _manager(value)
    elif path.lower() == "active" and isinstance(value, str):
        value = _boolean(value)
    rest = {"value": value} if "value" in operation and kind != "remove" else {}
    return [{"op": kind, "path": path, **rest}]


def _without_path(kind: str, value: dict[str, Any], shown: dict[str, Any]) -> list[dict[str, Any]]:
    """Attributes whose names are paths become operations of their own."""
    whole = {name: one for name, one in value.items() if not _is_path(name)}
    paths = [
        {"op": kind, "path": name, "value": one} for name, one in value.items() if _is_path(name)
    ]
    found = [{"op": kind, "value": resource_sent(whole)}] if whole else []
    return found + [made for one in paths for made in _standard(one, shown)]


def _is_path(name: str) -> bool:
    return name not in KNOWN_SCHEMAS and ("." in name or "[" in name or name.startswith("urn:"))


def _is_unknown_schema(name: str) -> bool:
    """Return whether a name is of an extension that is not kept here, or lies in one."""
    is_schema = name.lower().startswith(("urn:", "http:", "https:"))
    return is_schema and not name.lower().startswith(
        tuple(known.lower() for known in KNOWN_SCHEMAS)
    )


def _has_kind(shown: dict[str, Any], attribute: str, kind: str) -> bool:
    values = next((v for name, v in shown.items() if name.lower() == attribute.lower()), None)
    return any(
        isinstance(one, dict) and str(one.get("type", "")).lower() == kind.lower()
        for one in values or []
    )


def _manager(value: Any) -> Any:
    """Named by text alone in Entra; the standard wants to know where they are, too."""
    found = {"value": value} if isinstance(value, str) else value
    if isinstance(found, dict) and isinstance(found.get("value"), str) and "$ref" not in found:
        return {**found, "$ref": f"{settings.PUBLIC_URL}/api/scim/v2/Users/{quote(found['value'])}"}
    return found


def _boolean(value: str) -> Any:
    return _TEXT_BOOLEANS.get(value.lower(), value)
