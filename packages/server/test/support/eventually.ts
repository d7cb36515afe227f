/** How long a condition may take on a busy machine before it counts as never. */
const usualPatienceMs = 60_000;
const pauseMs = 10;

type Check<Found> = () => Promise<Found | undefined | false> | Found | undefined | false;

/**
 * Repeats `check` until it returns something other than undefined or false, and returns that. An error that
 * `check` throws counts as "not yet"; the last one is the cause of the failure.
 */
export async function eventually<Found>(
  check: Check<Found>,
  patienceMs = usualPatienceMs,
): Promise<Found> {
  let cause: unknown;
  const forgiving = async (): Promise<Found | undefined | false> => {
    try {
      const found = await check();
      cause = undefined;
      return found;
    } catch (error) {
      cause = error;
      return undefined;
    }
  };
  return poll(forgiving, { withinMs: patienceMs, everyMs: pauseMs }, (waitedMs) => {
    return new Error(`the condition did not come true within ${waitedMs} ms`, { cause });
  });
}

export interface Patience {
  /** Above the minute that every wait has. */
  readonly withinMs?: number;
  /** The thing waited for, named in the error if it does not come. */
  readonly what: string | (() => string);
  /** Between two looks. Longer where many wait at once, so that their questions do not occupy the servers. */
  readonly everyMs?: number;
}

/** Like `eventually`, but an error that `check` throws ends the wait at once and is passed on. */
export async function until<Found>(
  check: Check<Found>,
  { withinMs = usualPatienceMs, what, everyMs = pauseMs }: Patience,
): Promise<Found> {
  return poll(check, { withinMs, everyMs }, (waitedMs) => {
    const missing = typeof what === 'string' ? what : what();
    return new Error(`within ${waitedMs} ms there was no ${missing}`);
  });
}

async function poll<Found>(
  check: Check<Found>,
  { withinMs, everyMs }: { readonly withinMs: number; readonly everyMs: number },
  failure: (waitedMs: number) => Error,
): Promise<Found> {
  // A shorter bound would measure how busy the machine is.
  const waitedMs = Math.max(withinMs, usualPatienceMs);
  const deadline = performance.now() + waitedMs;
  for (;;) {
    const found = await check();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > deadline) throw failure(waitedMs);
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}
