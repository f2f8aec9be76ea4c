/** Makes the page an app: it opens without a connection once its service worker is there. */

/** Registers the worker when the page has loaded, so that it takes nothing from that. */
export function registerServiceWorker(): void {
  if (!import.meta.env.PROD || !("serviceWorker" in navigator)) return;
  const register = () => {
    // Refused by the browser's settings: the page works as before, with a connection.
    navigator.serviceWorker.register("/service-worker.js").catch(() => undefined);
  };
  if (document.readyState === "complete") register();
  else window.addEventListener("load", register, { once: true });
}
