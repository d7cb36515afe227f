/** Resolves in the next turn of the event loop: everything that is ready now happens before. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
