/** Ends the task: what the browser has to do meanwhile, such as to draw or to take a touch, comes
 * before what follows. */
export function nextTask(): Promise<void> {
  // Not every browser has it.
  const yielded = globalThis.scheduler?.yield?.();
  return yielded ?? new Promise((resolve) => setTimeout(() => resolve()));
}
