/** Works on at most `atOnce` items at a time and yields each result as soon as it is there. */
export async function* inParallel<Item, Result>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<Result>,
): AsyncGenerator<Result, void> {
  const waiting = [...items];
  const running = new Map<Item, Promise<{ item: Item; outcome: Outcome<Result> }>>();
  const start = (item: Item) => {
    // An outcome is never a rejection: the generator may be closed before it looks at it.
    const outcome = work(item).then(
      (value): Outcome<Result> => ({ ok: true, value }),
      (error: unknown): Outcome<Result> => ({ ok: false, error }),
    );
    running.set(
      item,
      outcome.then((settled) => ({ item, outcome: settled })),
    );
  };
  for (;;) {
    for (const item of waiting.splice(0, atOnce - running.size)) start(item);
    if (running.size === 0) return;
    const { item, outcome } = await Promise.race(running.values());
    running.delete(item);
    if (!outcome.ok) throw outcome.error;
    yield outcome.value;
  }
}

type Outcome<Result> =
  | { readonly ok: true; readonly value: Result }
  | { readonly ok: false; readonly error: unknown };
