/** Resolves after a while; rejects with the signal's reason as soon as it is aborted. */
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

/** Waits for a promise that others may share: who leaves early does not end it for them. */
export function shared<T>(promise: Promise<T>, signal?: AbortSignal): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise<T>((resolve, reject) => {
    const leave = () => reject(reasonOf(signal));
    if (signal.aborted) leave();
    signal.addEventListener('abort', leave, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}

/** The type of a reason says nothing, because it is whatever somebody aborted with. */
export function reasonOf(signal: AbortSignal): unknown {
  return signal.reason;
}

/** Aborts the controller when the signal is aborted; the function returned undoes the tie. */
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
