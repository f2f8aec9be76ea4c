import { useEffect, useRef, useState } from "react";

/** The token behind the # of a mailed link. It leaves the address bar, and so the history. */
export function useLinkToken(): string {
  const [token] = useState(() => window.location.hash.slice(1));
  useEffect(() => {
    window.history.replaceState(window.history.state, "", window.location.pathname);
  }, []);
  return token;
}

/** Runs once for the page: a link works once, and React's strict mode runs effects twice. */
export function useOnce(run: () => void): void {
  const done = useRef(false);
  useEffect(() => {
    if (done.current) return;
    done.current = true;
    run();
  });
}
