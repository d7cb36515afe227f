import type { Convoke, RunHandle, SessionHandle } from '@convoke/sdk';
import { exitCodes, Failure } from './failure.ts';

/** How many of the newest items an unfinished id is looked for in. */
const searchMax = 500;
const pageSize = 100;
/** How many of the newest sessions a run without its session is looked for in: one request each. */
const sessionsMax = 100;
const togetherMax = 10;

/** Returns a whole id; completes one of which only the beginning was typed from a list, newest first. */
export async function completeId(
  typed: string,
  candidates: AsyncIterable<{ readonly id: string }>,
): Promise<string> {
  if (isWhole(typed)) return typed;
  const found: { readonly id: string }[] = [];
  let searched = 0;
  for await (const item of candidates) {
    if (item.id === typed) return item.id;
    if (item.id.startsWith(typed)) found.push(item);
    if (++searched === searchMax) break;
  }
  return onlyOne(typed, found).id;
}

export async function sessionOf(convoke: Convoke, typed: string): Promise<SessionHandle> {
  return convoke.sessions.at(await completeId(typed, convoke.sessions.list({ limit: pageSize })));
}

/** Returns the run of a session; without a session, looks for it in the newest sessions. */
export async function runOf(
  convoke: Convoke,
  ...[first, second]: [string, string | undefined]
): Promise<RunHandle> {
  if (second !== undefined) {
    const session = await sessionOf(convoke, first);
    return session.runs.at(await completeId(second, session.runs.list({ limit: pageSize })));
  }
  if (first.startsWith('run_')) return searchRun(convoke, first);
  throw new Failure(`${first} is not a run: name a run, or a session and a run`, exitCodes.usage);
}

/** No operation finds a run by its id alone, so the newest sessions are asked. */
async function searchRun(convoke: Convoke, typed: string): Promise<RunHandle> {
  const found: RunHandle[] = [];
  let batch: SessionHandle[] = [];
  let searched = 0;
  const ask = async () => {
    const pages = await Promise.all(
      batch.map((session) => session.runs.list({ limit: pageSize }).page()),
    );
    found.push(...pages.flatMap(({ items }) => items.filter(({ id }) => id.startsWith(typed))));
    batch = [];
  };
  for await (const session of convoke.sessions.list({ limit: pageSize })) {
    batch.push(session);
    if (batch.length === togetherMax) await ask();
    if ((isWhole(typed) && found.length > 0) || ++searched === sessionsMax) break;
  }
  await ask();
  return onlyOne(typed, found, ` in the newest ${sessionsMax} sessions; name its session too`);
}

function isWhole(id: string): boolean {
  return /^[a-z]+_[0-9a-z]{26}$/.test(id);
}

function onlyOne<T extends { readonly id: string }>(
  typed: string,
  found: readonly T[],
  where = '',
): T {
  const [only, ...others] = found;
  if (only === undefined) throw new Failure(`there is no ${typed}${where}`);
  if (others.length === 0) return only;
  const some = found.slice(0, 5).map(({ id }) => id);
  const all = found.length > some.length ? [...some, '…'] : some;
  throw new Failure(
    `${typed} is the beginning of ${found.length} ids (${all.join(', ')}): type more of it`,
    exitCodes.usage,
  );
}
