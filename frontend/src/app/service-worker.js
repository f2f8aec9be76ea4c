/**
 * The service worker: the page opens without a connection, other apps share text with it, and a
 * notification leads to its chat.
 *
 * It keeps the page's shell and files whose name holds a hash of their bytes; both are the same for
 * everybody. Answers of the API never pass through it. A page comes from the network whenever that
 * answers, so a new release is there with the next navigation; a new worker waits until the last
 * tab of the old release is closed, and only then are that one's files dropped.
 */

/**
 * Filled in by the build (vite.service-worker.ts): the shell's files, the catalogues of each language,
 * and the script that names the shell.
 */
const FILES = "__FILES__";
const CATALOGUES = "__CATALOGUES__";
const ENTRY = "__ENTRY__";
const CACHE = "__CACHE__";

const SHELL = "/";
const ASSETS = "/static/app/assets/";
const SHARED = "/share-target";
/** Not the page's. */
const OTHERS = /^\/(api|v1|admin|docs|outbox|frames|static|metrics|healthz|readyz)(\/|$)/;
/** A longer text makes an address that browsers refuse. */
const MAX_SHARED = 20_000;

self.addEventListener("install", (event) => event.waitUntil(install()));
self.addEventListener("activate", (event) => event.waitUntil(activate()));
self.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (url.origin !== self.location.origin) return;
  if (request.method === "POST" && url.pathname === SHARED) {
    event.respondWith(share(request));
  } else if (request.method !== "GET") {
    return;
  } else if (url.pathname.startsWith(ASSETS)) {
    event.respondWith(hashedFile(request));
  } else if (url.pathname.startsWith("/static/app/")) {
    event.respondWith(fetch(request).catch(() => kept(request)));
  } else if (request.destination === "document" && !OTHERS.test(url.pathname)) {
    event.respondWith(fetch(request).catch(() => kept(SHELL)));
  }
});
self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(openPage(event.notification.data.path));
});

async function install() {
  // Without cookies: nobody's page.
  const shell = await fetch(SHELL, { credentials: "omit", cache: "no-store" });
  if (!shell.ok || !(await shell.clone().text()).includes(ENTRY)) {
    throw new Error("the shell is another release's: the next visit tries again");
  }
  const cache = await caches.open(CACHE);
  await cache.addAll([...FILES, ...catalogue()]);
  await cache.put(SHELL, shell);
}

/** Of the page's language, which stands in the worker's address. English has none. */
function catalogue() {
  const language = new URL(self.location.href).searchParams.get("language");
  return language && Object.hasOwn(CATALOGUES, language) ? CATALOGUES[language] : [];
}

async function activate() {
  const names = await caches.keys();
  await Promise.all(names.filter((name) => name !== CACHE).map((name) => caches.delete(name)));
  await self.clients.claim();
}

async function kept(request) {
  return (await caches.match(request, { ignoreVary: true })) ?? Response.error();
}

async function hashedFile(request) {
  const found = await caches.match(request, { ignoreVary: true });
  if (found) return found;
  const response = await fetch(request);
  if (response.ok && response.type === "basic") {
    const cache = await caches.open(CACHE);
    await cache.put(request, response.clone());
  }
  return response;
}

/** What is shared goes on in the fragment, which no server sees. */
async function share(request) {
  const form = await request.formData();
  const said = ["title", "text", "url"].map((name) => String(form.get(name) ?? "").trim());
  const text = [...new Set(said.filter(Boolean))].join("\n").slice(0, MAX_SHARED);
  return Response.redirect(`/#shared=${encodeURIComponent(text)}`, 303);
}

/** Shows the tab that is there already, or a new one: no other loses what it shows. */
async function openPage(path) {
  const tabs = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  const found = tabs.find(({ url }) => new URL(url).pathname === path);
  return found ? found.focus() : self.clients.openWindow(path);
}
