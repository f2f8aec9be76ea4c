"""Signing up, in and out; sessions, cookies and CSRF, as a browser meets them."""

import secrets

import httpx
import pytest

from tests.api.users import Browser, sign_up

pytestmark = pytest.mark.model


def test_sign_up_creates_an_organization_and_signs_in(new_person):
    user = new_person()
    me = user.browser.get("/api/me").json()
    assert me["user"]["email"] == user.email
    assert me["role"] == "owner"
    assert [o["id"] for o in me["organizations"]] == [me["organization"]["id"]]


def test_me_is_401_when_signed_out(product):
    answer = Browser(product.url).get("/api/me")
    assert answer.status_code == 401
    assert answer.json()["error"]["code"] == "not_signed_in"


def test_session_is_refused_after_sign_out(new_person, product):
    user = new_person()
    old = dict(user.browser.cookies)
    assert user.browser.post("/api/auth/logout").status_code == 204
    assert user.browser.get("/api/me").status_code == 401
    assert httpx.get(f"{product.url}/api/me", cookies=old).status_code == 401


def test_sign_in_rotates_session_and_csrf_token(product, new_person):
    user = new_person()
    browser = Browser(product.url)
    browser.cookies.set("sessionid", "chosen-by-an-attacker-0123456789ab")
    before = browser.cookies["csrftoken"]
    credentials = {"email": user.email, "password": user.password}
    answer = browser.post("/api/auth/login", json=credentials)
    assert answer.status_code == 200
    assert answer.cookies["sessionid"] != "chosen-by-an-attacker-0123456789ab"
    assert answer.cookies["csrftoken"] != before


def test_second_sign_in_ends_the_session_before(product, new_person):
    user = new_person()
    browser = Browser(product.url)
    credentials = {"email": user.email, "password": user.password}
    first, again = (browser.post("/api/auth/login", json=credentials) for _ in range(2))
    assert again.cookies["sessionid"] != first.cookies["sessionid"]
    old = {"sessionid": first.cookies["sessionid"]}
    assert httpx.get(f"{product.url}/api/me", cookies=old).status_code == 401
    assert browser.get("/api/me").status_code == 200


def test_session_cookie_is_http_only(product, new_person):
    user = new_person()
    answer = Browser(product.url).post(
        "/api/auth/login", json={"email": user.email, "password": user.password}
    )
    assert answer.status_code == 200
    [cookie] = [c for c in answer.headers.get_list("set-cookie") if c.startswith("sessionid=")]
    flags = {part.strip().lower() for part in cookie.split(";")[1:]}
    assert {"httponly", "samesite=lax", "path=/"} <= flags


def test_wrong_password_and_unknown_email_get_the_same_answer(product, new_person):
    user = new_person()
    browser = Browser(product.url)
    wrong = browser.post(
        "/api/auth/login", json={"email": user.email, "password": "not the password"}
    )
    unknown = browser.post(
        "/api/auth/login",
        json={"email": f"{secrets.token_hex(6)}@example.org", "password": "not the password"},
    )
    assert (wrong.status_code, wrong.json()) == (unknown.status_code, unknown.json())
    assert wrong.status_code == 401


def test_sign_in_is_refused_without_csrf_token(product, new_person):
    user = new_person()
    credentials = {"email": user.email, "password": user.password}
    answer = httpx.post(f"{product.url}/api/auth/login", json=credentials)
    assert answer.status_code == 403
    assert answer.json()["error"]["code"] == "csrf_failed"


def test_session_changes_are_refused_without_csrf_token(new_person):
    user = new_person()
    answer = user.browser.post("/api/conversations", json={}, headers={"X-CSRFToken": "x" * 32})
    assert answer.status_code == 403
    assert answer.json()["error"]["code"] == "csrf_failed"


def test_session_is_refused_from_another_origin_despite_csrf_token(new_person):
    user = new_person()
    answer = user.browser.post(
        "/api/conversations", json={}, headers={"Origin": "https://evil.example"}
    )
    assert answer.status_code == 403


def test_key_needs_no_csrf_token(api_client):
    assert api_client.post("/api/conversations", json={}).status_code == 201


def test_invalid_key_is_refused_when_a_session_is_sent_too(new_person):
    user = new_person()
    answer = user.browser.get("/api/me", headers={"Authorization": "Bearer sk-parley-x"})
    assert answer.status_code == 401


def test_openai_routes_refuse_sessions(new_person):
    assert new_person().browser.get("/v1/models").status_code == 401


def test_unknown_browser_is_refused_after_many_wrong_passwords(scripted_product):
    user = sign_up(scripted_product.url)
    browser = Browser(scripted_product.url)
    browser.headers["X-Forwarded-For"] = "192.0.2.35"  # nobody else's attempts are counted with it
    answers = [
        browser.post("/api/auth/login", json={"email": user.email.upper(), "password": "no"})
        for _ in range(11)
    ]
    assert [a.status_code for a in answers] == [401] * 10 + [429]
    assert answers[-1].json()["error"]["code"] == "too_many_attempts"
    assert int(answers[-1].headers["Retry-After"]) > 0
    right = browser.post("/api/auth/login", json={"email": user.email, "password": user.password})
    assert right.status_code == 429

    # Another account from the same address can still be used, until the address has its fill.
    statuses = [
        browser.post(
            "/api/auth/login", json={"email": f"{n}@example.org", "password": "no"}
        ).status_code
        for n in range(25)
    ]
    assert statuses[0] == 401 and statuses[-1] == 429


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"email": "x@example.org"}, "password"),
        ({"email": "no address", "password": "a long enough one 7"}, "email"),
        ({"email": "y@example.org", "password": "12345678"}, "password"),
        ({"email": "y@example.org", "password": "p" * 1001}, "password"),
        ({"email": ["y@example.org"], "password": "x"}, "email"),
        ({"email": "y@example.org", "password": "a long enough one 7", "admin": True}, "admin"),
    ],
)
def test_sign_up_error_names_the_field(product, body, param):
    answer = Browser(product.url).post("/api/auth/signup", json=body)
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == param


def test_name_is_changed_and_foreign_organization_is_refused(new_person, person):
    user = new_person()
    renamed = user.browser.patch("/api/me", json={"name": "Ada"})
    assert renamed.json()["user"]["name"] == "Ada"
    foreign = user.browser.patch("/api/me", json={"organization_id": person.organization_id})
    assert foreign.status_code == 404
    assert user.browser.get("/api/me").json()["organization"]["id"] == user.organization_id


def test_language_is_one_that_the_page_speaks_or_none(new_person):
    user = new_person()
    assert user.browser.get("/api/me").json()["user"]["language"] == ""
    for language in ("zh-CN", ""):
        changed = user.browser.patch("/api/me", json={"language": language})
        assert changed.json()["user"]["language"] == language
        assert user.browser.get("/api/me").json()["user"]["language"] == language
    unknown = user.browser.patch("/api/me", json={"language": "tlh"})
    assert unknown.status_code == 400
    assert unknown.json()["error"]["param"] == "language"
