// Asks for what a chat shows while its scripts are still on their way. Only where the server saw a
// session (backend/api/preloads.py). src/api/first-requests.ts hands the answers out.
(() => {
  const chat = /^\/c\/([0-9a-f-]{36})$/.exec(window.location.pathname)?.[1];
  const paths = ["/api/me", "/api/models"];
  if (chat) paths.push(`/api/conversations/${chat}?limit=60`);
  // As wide as where the sidebar stands beside the page.
  if (window.matchMedia("(min-width: 48rem)").matches) {
    paths.push("/api/conversations?archived=false&limit=30");
  }
  let language = null;
  try {
    language = localStorage.getItem("parley.language");
  } catch {
    // Storage is blocked: as the browser says.
  }
  const headers = language ? { "Accept-Language": language } : {};
  window.parleyFirst = new Map(
    paths.map((path) => {
      const answer = fetch(path, { headers, credentials: "same-origin", cache: "no-store" });
      // Who takes it sees what failed.
      answer.catch(() => undefined);
      return [path, answer];
    }),
  );
})();
