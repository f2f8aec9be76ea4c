/**
 * Alpine for the admin (django-unfold), without evaluating text: its own build compiles every
 * attribute with `new AsyncFunction`, which a content security policy must then allow for whatever
 * else gets into a page. This one interprets them. It takes the place of unfold's alpine.js
 * (STATICFILES_DIRS in backend/settings.py), and works with unfold's plugins beside it.
 */
import Alpine from "@alpinejs/csp";
import { asOneExpression } from "./expressions";

declare global {
  interface Window {
    Alpine: typeof Alpine;
  }
}

/** What unfold's templates call or read that is not theirs: functions of its app.js, the browser. */
const FUNCTIONS = [
  "getCurrentTab",
  "moveRecords",
  "searchCommand",
  "searchDropdown",
  "searchForm",
  "sortRecords",
  "theme",
];

function callGlobal(name: string) {
  return function (this: unknown, ...values: unknown[]) {
    const found: unknown = Reflect.get(window, name);
    return typeof found === "function" ? found.apply(this, values) : undefined;
  };
}

const keep = (key: string, value: string) => localStorage.setItem(key, value);

Alpine.addScopeToNode(document.documentElement, {
  ...Object.fromEntries(FUNCTIONS.map((name) => [name, callGlobal(name)])),
  clearField: (field: HTMLInputElement) => {
    field.value = "";
  },
  keepSidebar: (open: boolean) => keep("sidebarDesktopOpen", open ? "1" : "0"),
  localStorage: { getItem: (key: string) => localStorage.getItem(key), setItem: keep },
  window: {
    get location() {
      const { pathname, search } = window.location;
      return { pathname, search };
    },
  },
});

// Before an element's attributes are read, those that Alpine inserts too.
Alpine.interceptInit((element: Element) => {
  for (const { name, value } of Array.from(element.attributes)) {
    if (!/^(x-(on|init|effect)|@)/.test(name)) continue;
    const rewritten = asOneExpression(value);
    if (rewritten !== value) element.setAttribute(name, rewritten);
  }
});

window.Alpine = Alpine;
// As unfold's own file does: its plugins listen for `alpine:init`.
queueMicrotask(() => Alpine.start());
