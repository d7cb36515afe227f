/** Resolves after `ms`; rejects with the signal's reason when it is aborted. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    const elapsed = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ms);
    });
    await shared(elapsed, signal);
  } finally {
    clearTimeout(timer);
  }
}

/** Waits for a shared promise; an abort rejects only this caller and does not affect the others. */
export function shared<T>(promise: Promise<T>, signal?: AbortSignal): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise<T>((resolve, reject) => {
    const leave = () => reject(reasonOf(signal));
    if (signal.aborted) leave();
    signal.addEventListener('abort', leave, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}

/** Returns the abort reason as unknown, because it can be any value. */
export function reasonOf(signal: AbortSignal): unknown {
  return signal.reason;
}

/** Aborts the controller when the signal is aborted; returns a function that removes the listener. */
export function forwardAbort(
  signal: AbortSignal | undefined,
  controller: AbortController,
): () => void {
  if (signal === undefined) return () => {};
  const forward = () => controller.abort(reasonOf(signal));
  if (signal.aborted) forward();
  signal.addEventListener('abort', forward, { once: true });
  return () => signal.removeEventListener('abort', forward);
}
