"""An owner connects an identity provider; a newcomer joins through it, without a password."""

import secrets

from playwright.sync_api import expect

from tests.api.organizations import oidc_provider
from tests.e2e.test_accessibility import PHONE, assert_accessible
from tests.e2e.users import SignUp, Visit
from tests.support.product import Product

_STYLES = "https://cdn.jsdelivr.net/"  # of the provider's page
_VERIFY = (
    "from django.utils import timezone;"
    "from backend.accounts.models import OrganizationDomain as Domain;"
    "Domain.objects.create(organization_id='{organization}', domain='{domain}', token='t',"
    " verified_at=timezone.now())"
)


def test_newcomer_joins_through_the_identity_provider(
    sign_up: SignUp, visit: Visit, live_product: Product
) -> None:
    owner = sign_up()
    page = owner.page
    domain = f"{secrets.token_hex(6)}.example.com"
    organization = page.request.get("/api/me").json()["organization"]["id"]
    live_product.inside(_VERIFY.format(organization=organization, domain=domain))
    email = f"ada@{domain}"
    claims = {"email": email, "email_verified": True, "name": "Ada", "groups": ["Leads"]}
    with oidc_provider(("subject-1", claims)) as issuer:
        owner.open("/organization/security")
        page.get_by_label("Issuer").fill(issuer)
        page.get_by_label("Client id").fill("parley")
        page.get_by_label("Client secret").fill("hush-hush")
        page.get_by_role("button", name="Save single sign-on").click()
        expect(page.get_by_role("button", name="Remove the provider")).to_be_visible()
        page.get_by_role("button", name="Add a group").click()
        page.get_by_label("Group 1", exact=True).fill("Leads")
        page.get_by_label("Group 1 gives").select_option("admin")
        page.get_by_role("button", name="Save the groups").click()
        expect(page.get_by_text("The groups are saved.")).to_be_visible()
        expect(page.get_by_role("list", name="Audit log")).to_be_visible()
        assert_accessible(page, "the organization's security")

        guest = visit(**PHONE)
        guest.expect_status(404)  # the provider has no icon
        guest.context.route(f"{_STYLES}**", lambda route: route.fulfill(status=200, body=""))
        phone = guest.page
        phone.goto("/login")
        phone.get_by_role("button", name="Single sign-on").click()
        phone.get_by_label("Work e-mail").fill(email)
        phone.get_by_role("button", name="Continue to your organization").click()
        phone.get_by_role("button", name="subject-1").click()
        expect(phone.get_by_role("textbox", name="Message")).to_be_visible()
        me = phone.request.get("/api/me").json()
        assert (me["user"]["email"], me["organization"]["id"]) == (email, organization)
        assert me["role"] == "admin"
        providers = (issuer, _STYLES)
        guest.foreign_requests = [
            url for url in guest.foreign_requests if not url.startswith(providers)
        ]

    page.reload()
    expect(page.get_by_role("list", name="Audit log")).to_contain_text("login.succeeded")
