/**
 * A module that is fetched when it is first wanted, such as what opens over the page: until it is
 * there its users show what they show without it.
 */
import { useEffect, useSyncExternalStore } from "react";

export interface Late<Module> {
  /** Fetches it, once; one that could not be fetched is asked for again. */
  load: () => Promise<Module>;
  /** It, or null while it is not there. */
  now: () => Module | null;
  /** For a component: the same, waited for once it is wanted, and fetched if nobody else does. */
  use: (wanted: boolean, fetches?: boolean) => Module | null;
}

export function late<Module>(fetch: () => Promise<Module>): Late<Module> {
  let loaded: Module | null = null;
  const listeners = new Set<() => void>();
  const now = () => loaded;
  const load = async () => {
    if (loaded) return loaded;
    loaded = await fetch();
    for (const listener of listeners) listener();
    return loaded;
  };
  const subscribe = (listener: () => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  const use = (wanted: boolean, fetches = true) => {
    useEffect(() => {
      // Without a connection nothing opens: the next one who wants it asks again.
      if (wanted && fetches) load().catch(() => undefined);
    }, [wanted, fetches]);
    return useSyncExternalStore(subscribe, () => (wanted ? loaded : null));
  };
  return { load, now, use };
}
