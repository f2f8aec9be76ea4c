"""Signing up, in and out; sessions, cookies and CSRF, as a browser meets them."""

import secrets
import time

import httpx
import pytest

from tests.api.people import Browser

pytestmark = pytest.mark.model


def test_signing_up_signs_in_to_an_organization_of_ones_own(new_person):
    someone = new_person()
    me = someone.browser.get("/api/me").json()
    assert me["user"]["email"] == someone.email
    assert me["role"] == "owner"
    assert [o["id"] for o in me["organizations"]] == [me["organization"]["id"]]


def test_the_password_is_stored_as_argon2(product, person):
    [row] = product.rows("SELECT password FROM accounts_user WHERE email = %s", [person.email])
    assert row["password"].startswith("argon2$argon2id$")


def test_me_is_401_when_signed_out(product):
    answer = Browser(product.url).get("/api/me")
    assert answer.status_code == 401
    assert answer.json()["error"]["code"] == "not_signed_in"


def test_signing_out_ends_the_session_for_good(new_person, product):
    someone = new_person()
    old = dict(someone.browser.cookies)
    assert someone.browser.post("/api/auth/logout").status_code == 204
    assert someone.browser.get("/api/me").status_code == 401
    assert httpx.get(f"{product.url}/api/me", cookies=old).status_code == 401


def test_signing_in_gives_a_new_session_and_a_new_csrf_token(product, new_person):
    someone = new_person()
    browser = Browser(product.url)
    browser.cookies.set("sessionid", "chosen-by-an-attacker-0123456789ab")
    before = browser.cookies["csrftoken"]
    credentials = {"email": someone.email, "password": someone.password}
    answer = browser.post("/api/auth/login", json=credentials)
    assert answer.status_code == 200
    assert answer.cookies["sessionid"] != "chosen-by-an-attacker-0123456789ab"
    assert answer.cookies["csrftoken"] != before
    again = browser.post("/api/auth/login", json=credentials)
    assert again.cookies["sessionid"] != answer.cookies["sessionid"]


def test_the_session_cookie_is_out_of_reach_of_scripts(product, new_person):
    someone = new_person()
    answer = Browser(product.url).post(
        "/api/auth/login", json={"email": someone.email, "password": someone.password}
    )
    assert answer.status_code == 200
    [cookie] = [c for c in answer.headers.get_list("set-cookie") if c.startswith("sessionid=")]
    flags = {part.strip().lower() for part in cookie.split(";")[1:]}
    assert {"httponly", "samesite=lax", "path=/"} <= flags


def test_a_wrong_password_and_an_unknown_address_get_the_same_answer(product, new_person):
    someone = new_person()
    browser = Browser(product.url)
    wrong = browser.post(
        "/api/auth/login", json={"email": someone.email, "password": "not the password"}
    )
    unknown = browser.post(
        "/api/auth/login",
        json={"email": f"{secrets.token_hex(6)}@example.org", "password": "not the password"},
    )
    assert (wrong.status_code, wrong.json()) == (unknown.status_code, unknown.json())
    assert wrong.status_code == 401


def test_an_unknown_address_takes_as_much_hashing_as_a_known_one(product, new_person):
    """Not a benchmark: without the second hash the difference is a factor of ten and more."""
    someone = new_person()
    browser = Browser(product.url)

    def seconds(email: str) -> float:
        times = []
        for _ in range(4):
            started = time.perf_counter()
            browser.post("/api/auth/login", json={"email": email, "password": "wrong wrong"})
            times.append(time.perf_counter() - started)
        return min(times)

    known = seconds(someone.email)
    unknown = seconds(f"{secrets.token_hex(6)}@example.org")
    assert known / 4 < unknown < known * 4


def test_sign_in_needs_the_csrf_token(product, new_person):
    someone = new_person()
    credentials = {"email": someone.email, "password": someone.password}
    answer = httpx.post(f"{product.url}/api/auth/login", json=credentials)
    assert answer.status_code == 403
    assert answer.json()["error"]["code"] == "csrf_failed"


def test_a_session_needs_the_csrf_token_for_every_change(new_person):
    someone = new_person()
    answer = someone.browser.post("/api/conversations", json={}, headers={"X-CSRFToken": "x" * 32})
    assert answer.status_code == 403
    assert answer.json()["error"]["code"] == "csrf_failed"


def test_a_session_is_refused_from_another_origin_even_with_the_token(new_person):
    someone = new_person()
    answer = someone.browser.post(
        "/api/conversations", json={}, headers={"Origin": "https://evil.example"}
    )
    assert answer.status_code == 403


def test_a_key_needs_no_csrf_token(api_client):
    assert api_client.post("/api/conversations", json={}).status_code == 201


def test_a_bad_key_is_refused_even_when_a_session_is_sent_with_it(new_person):
    someone = new_person()
    answer = someone.browser.get("/api/me", headers={"Authorization": "Bearer sk-parley-x"})
    assert answer.status_code == 401


def test_openai_routes_take_no_session(new_person):
    assert new_person().browser.get("/v1/models").status_code == 401


def test_guessing_a_password_is_refused_and_the_right_one_too_in_an_unknown_browser(start_product):
    product = start_product(background=())
    from tests.api.people import sign_up

    someone = sign_up(product.url)
    browser = Browser(product.url)
    answers = [
        browser.post("/api/auth/login", json={"email": someone.email.upper(), "password": "no"})
        for _ in range(11)
    ]
    assert [a.status_code for a in answers] == [401] * 10 + [429]
    assert answers[-1].json()["error"]["code"] == "too_many_attempts"
    assert int(answers[-1].headers["Retry-After"]) > 0
    right = browser.post(
        "/api/auth/login", json={"email": someone.email, "password": someone.password}
    )
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
def test_a_bad_sign_up_names_the_field(product, body, param):
    answer = Browser(product.url).post("/api/auth/signup", json=body)
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == param


def test_a_name_can_be_changed_and_an_organization_of_others_not_chosen(new_person, person):
    someone = new_person()
    renamed = someone.browser.patch("/api/me", json={"name": "Ada"})
    assert renamed.json()["user"]["name"] == "Ada"
    foreign = someone.browser.patch("/api/me", json={"organization_id": person.organization_id})
    assert foreign.status_code == 404
    assert someone.browser.get("/api/me").json()["organization"]["id"] == someone.organization_id
