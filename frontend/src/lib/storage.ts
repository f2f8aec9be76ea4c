/**
 * What this browser remembers between visits, or this tab between reloads. A browser may block
 * storage, and even asking for it then throws: what is kept lives as long as the page then.
 */
export const readStored = (key: string): string | null => read(() => localStorage, key);

export const writeStored = (key: string, value: string): void =>
  write(() => localStorage, key, value);

export function removeStored(key: string): void {
  try {
    localStorage.removeItem(key);
  } catch {
    // Blocked: nothing was kept there.
  }
}

export const readTabStored = (key: string): string | null => read(() => sessionStorage, key);

export const writeTabStored = (key: string, value: string): void =>
  write(() => sessionStorage, key, value);

function read(storage: () => Storage, key: string): string | null {
  try {
    return storage().getItem(key);
  } catch {
    return null;
  }
}

function write(storage: () => Storage, key: string, value: string): void {
  try {
    storage().setItem(key, value);
  } catch {
    // Blocked or full: the setting holds until the page is closed.
  }
}
