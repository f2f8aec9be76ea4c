"""A profile that is kept has nothing of its visitor before."""

from playwright.sync_api import Browser, Page, expect

from tests.e2e.profiles import Profiles
from tests.e2e.users import Person, Visitor
from tests.support.scripted import ScriptedProduct

LEAVE = """async () => {
  localStorage.setItem('left', 'local');
  sessionStorage.setItem('left', 'session');
  window.name = 'left';
  document.cookie = 'left=cookie';
  await (await caches.open('left')).put('/left', new Response('cache'));
  await new Promise((done, failed) => {
    const opening = indexedDB.open('left');
    opening.onsuccess = () => { opening.result.close(); done(); };
    opening.onerror = failed;
  });
}"""
FOUND = """async () => ({
  local: Object.keys(localStorage).includes('left'),
  session: Object.keys(sessionStorage).includes('left'),
  name: window.name,
  cookie: document.cookie.includes('left'),
  caches: await caches.keys(),
  databases: (await indexedDB.databases()).some(({ name }) => name === 'left'),
  clipboard: (await navigator.permissions.query({ name: 'clipboard-read' })).state,
  place: (await navigator.permissions.query({ name: 'geolocation' })).state,
  online: navigator.onLine,
  history: history.length,
  width: innerWidth,
  dark: matchMedia('(prefers-color-scheme: dark)').matches,
})"""


def test_kept_profile_has_nothing_of_its_visitor_before(
    browser: Browser, scripted_product: ScriptedProduct
) -> None:
    url = scripted_product.url
    profiles = Profiles(browser)
    new = Visitor(browser, url)
    new.open("/")
    expect(new.page.get_by_role("button", name="Sign in")).to_be_visible()
    as_in_a_new_one = new.page.evaluate(FOUND)
    new.leave()

    person = Person(Visitor(browser, url, profiles))
    person.open("/")
    expect(person.composer).to_be_visible()
    person.page.evaluate(LEAVE)
    other_tab = person.visitor.new_tab()
    other_tab.goto("/static/app/icon.svg")
    other_tab.evaluate("sessionStorage.setItem('left', 'another tab')")
    person.context.grant_permissions(["geolocation"], origin=url)
    person.page.set_viewport_size({"width": 390, "height": 844})
    person.page.emulate_media(color_scheme="dark")
    person.context.route("**/api/me", lambda route: route.abort())
    person.context.set_offline(True)
    person.visitor.expect_offline()
    person.visitor.leave()

    visitor = Visitor(browser, url, profiles)
    assert visitor.context is person.context
    assert visitor.tabs == [visitor.page]
    asked = requests_of(visitor.page)
    visitor.open("/")
    expect(visitor.page.get_by_role("button", name="Sign in")).to_be_visible()
    assert visitor.page.evaluate(FOUND) == as_in_a_new_one
    assert visitor.context.request.get("/api/me").status == 401
    assert f"{url}/api/me" in asked
    visitor.leave()


def requests_of(page: Page) -> list[str]:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    return asked


def test_two_visitors_at_once_have_a_profile_each(
    browser: Browser, scripted_product: ScriptedProduct
) -> None:
    profiles = Profiles(browser)
    first, second = (Visitor(browser, scripted_product.url, profiles) for _ in range(2))
    assert first.context is not second.context
    other_size = Visitor(
        browser, scripted_product.url, profiles, viewport={"width": 390, "height": 844}
    )
    assert other_size.context not in (first.context, second.context)
    for visitor in (first, second, other_size):
        visitor.leave()
