/**
 * What this browser remembers between visits. A browser may block storage, and even asking for it
 * then throws: choices live as long as the page then.
 */
export function readStored(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

export function writeStored(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // Blocked or full: the setting holds until the page is closed.
  }
}
