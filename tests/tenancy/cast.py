"""Callers of an organization that owns nothing of the victim's: every role, every kind of key."""

from dataclasses import dataclass
from random import Random

import httpx

from tests.api.users import Browser, Person, program, sign_up
from tests.support.product import Product
from tests.tenancy.belongings import Belongings, everything
from tests.tenancy.routes import ADMINISTRATION

ROLES = ("admin", "member", "finance", "viewer")


@dataclass(frozen=True, slots=True)
class Caller:
    """Somebody who sends requests.

    Attributes:
        client: with their session, their key or nothing.
        is_session: whether it is a browser's.
    """

    name: str
    client: httpx.Client
    is_session: bool

    @property
    def is_known(self) -> bool:
        """Whether the product still takes them for somebody."""
        return self.client.get("/api/me").status_code != 401


@dataclass(frozen=True, slots=True)
class Cast:
    """All callers, and what their own organization has, which is in their requests too."""

    callers: tuple[Caller, ...]
    own: Belongings

    def chosen(self, random: Random, path: str) -> Caller:
        """Mostly one whom the route lets in, so that the check of whose it is decides."""
        if random.random() < 0.15:
            return random.choice(self.callers)
        by_name = {caller.name: caller for caller in self.callers}
        if path.startswith(("/v1/organization/usage", "/v1/organization/costs")):
            return by_name["key that sees usage"]
        if path.startswith(ADMINISTRATION) and random.random() < 0.5:
            return by_name["key that administers"]
        is_session = not path.startswith("/v1/") and random.random() < 0.8
        return by_name["owner" if is_session else "key"]

    def close(self) -> None:
        for caller in self.callers:
            caller.client.close()


def new_cast(product: Product) -> Cast:
    """An organization with a session of every role and keys of every kind, and nobody at all; of
    the largest plan, so that few requests meet a limit instead of a check."""
    url = product.url
    own = everything(url, "Other")
    owner = own.owner
    product.give_largest_plan(owner.organization_id)
    people = {role: _colleague(url, owner, role) for role in ROLES}
    keys = {
        "key": owner.new_key()["secret"],
        "key of a member": people["member"].new_key()["secret"],
        "key that administers": owner.new_key(scopes=["administration"])["secret"],
        "key that sees usage": owner.new_key(scopes=["usage"])["secret"],
        "key of a project": _project_key(owner.browser, str(own.ids["project_id"])),
    }
    sessions = {"owner": owner, **people}
    return Cast(
        (
            Caller("nobody", Browser(url), True),
            *(Caller(name, person.browser, True) for name, person in sessions.items()),
            *(Caller(name, program(url, secret), False) for name, secret in keys.items()),
        ),
        # What their own requests may break is not the owner's.
        Belongings(owner, own.ids | {"user_id": people["viewer"].me["user"]["id"]}),
    )


def _colleague(url: str, owner: Person, role: str) -> Person:
    link = owner.new_invitation(role=role)["url"]
    return sign_up(url, "Other", invitation=str(link).partition("#")[2])


def _project_key(browser: Browser, project_id: str) -> str:
    account = browser.post(
        f"/api/projects/{project_id}/service-accounts", json={"name": "with a key"}
    )
    assert account.status_code == 201, account.text
    return str(account.json()["secret"])
