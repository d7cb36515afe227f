/** How long a condition may take on a busy machine before it counts as never. */
const usualPatienceMs = 15_000;
const pauseMs = 10;

/** Asks again until `look` gives something, and gives that; what it threw last tells why it never did. */
export async function eventually<Found>(
  look: () => Promise<Found | undefined | false> | Found | undefined | false,
  patienceMs = usualPatienceMs,
): Promise<Found> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const found = await attempt(look);
    if (found.ok && found.value !== undefined && found.value !== false) return found.value;
    if (performance.now() > deadline) {
      throw new Error(`the condition did not come true within ${patienceMs} ms`, {
        cause: found.ok ? undefined : found.error,
      });
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

type Attempt<Found> = { ok: true; value: Found } | { ok: false; error: unknown };

async function attempt<Found>(look: () => Promise<Found> | Found): Promise<Attempt<Found>> {
  try {
    return { ok: true, value: await look() };
  } catch (error) {
    return { ok: false, error };
  }
}
