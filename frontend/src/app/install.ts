/** Makes the page an app: it opens without a connection once its service worker is there. */

import { language } from "@/lib/locale";

/** Registers the worker when the page has loaded, so that it takes nothing from that. */
export function registerServiceWorker(): void {
  if (!import.meta.env.PROD || !("serviceWorker" in navigator)) return;
  const register = () => {
    // Refused by the browser's settings: the page works as before, with a connection.
    const worker = `/service-worker.js?language=${language()}`;
    navigator.serviceWorker.register(worker).catch(() => undefined);
  };
  if (document.readyState === "complete") register();
  else window.addEventListener("load", register, { once: true });
}
