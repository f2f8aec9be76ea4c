import { useEffect } from "react";

/** Names the browser tab for as long as the component is shown. */
export function useDocumentTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Parley`;
    return () => {
      document.title = "Parley";
    };
  }, [title]);
}
