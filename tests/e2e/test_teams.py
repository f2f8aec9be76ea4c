"""Teams on the page: invited by a link, joined with a new account, a project used, left."""

import re
import secrets

from playwright.sync_api import expect

from tests.e2e.test_accessibility import PHONE, assert_accessible
from tests.e2e.users import PASSWORD, SignUp, Visit, go
from tests.support.outbox import link_in, newest_mail


def test_invited_person_joins_works_in_a_project_and_leaves(sign_up: SignUp, visit: Visit) -> None:
    owner = sign_up()
    page = owner.page
    owner.open("/organization")
    own = page.get_by_role("list", name="Members").get_by_role("listitem")
    expect(own).to_contain_text("Owner")
    expect(own.get_by_role("combobox")).to_have_count(0)  # one's own role is no choice
    page.get_by_role("button", name="Invite", exact=True).click()
    dialog = page.get_by_role("dialog", name="Invite to the organization")
    dialog.get_by_role("combobox", name="Role", exact=True).select_option("admin")
    dialog.get_by_role("button", name="Create link").click()
    dialog = page.get_by_role("dialog", name="Your invitation link")
    url = dialog.get_by_role("textbox", name="Invitation link").input_value()
    dialog.get_by_role("button", name="Done").click()
    expect(page.get_by_role("list", name="Invitations")).to_contain_text("pending")

    guest = visit(**PHONE)
    phone = guest.page
    phone.goto(url)
    expect(phone.get_by_role("heading", name=re.compile("^Join "))).to_be_visible()
    assert_accessible(phone, "the invitation")
    phone.get_by_role("link", name="Create an account").click()
    email = f"guest-{secrets.token_hex(4)}@example.org"
    phone.get_by_label("Name", exact=True).fill("Guest")
    phone.get_by_label("E-mail").fill(email)
    phone.get_by_label("Password").fill(PASSWORD)
    phone.get_by_role("button", name="Create account").click()
    expect(phone.get_by_text(email)).to_be_visible()
    phone.goto(link_in(newest_mail(guest.url, email, containing="/confirm-sign-up#")))
    expect(phone.get_by_role("textbox", name="Message")).to_be_visible()

    go(phone, "/projects")
    phone.get_by_role("button", name="Create project").click()
    dialog = phone.get_by_role("dialog", name="Create a project")
    dialog.get_by_label("Name").fill("Search")
    dialog.get_by_role("button", name="Create project").click()
    phone.get_by_role("link", name="Search", exact=True).click()
    phone.get_by_label("Amount").fill("5")
    phone.get_by_role("button", name="Set budget", exact=True).click()
    expect(phone.get_by_text("Requests beyond it are refused.")).to_be_visible()
    assert_accessible(phone, "the project")
    width = phone.evaluate("document.documentElement.scrollWidth")
    assert width <= phone.evaluate("screen.width")

    # A member, no admin any more, sees a project that they are in and asks a chat in it.
    me = guest.page.request.get("/api/me").json()
    project = owner.call("POST", "/api/projects", {"name": "Kitchen"})["id"]
    owner.call("PATCH", f"/api/organization/members/{me['user']['id']}", {"role": "member"})
    body = {"user_id": me["user"]["id"], "role": "member"}
    owner.call("POST", f"/api/projects/{project}/members", body)
    phone.goto(f"/projects/{project}")
    expect(phone.get_by_text("all of the organization")).to_be_visible()
    expect(phone.get_by_role("list", name="Members of the project")).to_contain_text(email)
    expect(phone.get_by_role("main").get_by_role("textbox")).to_have_count(0)
    assert_accessible(phone, "the project, to a member")
    go(phone, "/")
    phone.get_by_role("button", name="Project: Default").click()
    phone.get_by_role("menuitemradio", name="Kitchen").click()
    assert_accessible(phone, "a new chat in a project")
    phone.get_by_role("textbox", name="Message").fill("Say hi.")
    phone.get_by_role("button", name="Send").click()
    expect(phone).to_have_url(re.compile("/c/"))
    expect(phone.get_by_role("button", name="Project: Kitchen")).to_be_visible()
    chat = phone.url.rpartition("/")[2]
    assert phone.request.get(f"/api/conversations/{chat}").json()["project_id"] == project

    phone.goto("/organization")
    members = phone.get_by_role("list", name="Members")
    expect(members.get_by_role("listitem")).to_have_count(2)
    phone.get_by_role("button", name="Leave the organization").click()
    assert_accessible(phone, "leaving")
    phone.get_by_role("dialog").get_by_role("button", name="Leave").click()
    expect(phone.get_by_role("heading", name="Guest's organization")).to_be_visible()

    page.reload()
    expect(page.get_by_role("list", name="Members").get_by_role("listitem")).to_have_count(1)
    expect(page.get_by_role("list", name="Invitations")).to_contain_text("accepted")
