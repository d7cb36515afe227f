import type { Convoke, RunHandle, SessionHandle } from '@convoke/sdk';
import { exitCodes, Failure } from './failure.ts';

/** How many of the newest items an unfinished id is looked for in. */
const searchMax = 500;
const pageSize = 100;

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

/** Returns the run of a session, or the run with this id alone. */
export async function runOf(
  convoke: Convoke,
  ...[first, second]: [string, string | undefined]
): Promise<RunHandle> {
  if (second !== undefined) {
    const session = await sessionOf(convoke, first);
    return session.runs.at(await completeId(second, session.runs.list({ limit: pageSize })));
  }
  if (first.startsWith('run_')) {
    return convoke.runs.get(await completeId(first, convoke.runs.list({ limit: pageSize })));
  }
  throw new Failure(
    `${first} is not a run: pass a run id, or a session id and a run id`,
    exitCodes.usage,
  );
}

export function isWhole(id: string): boolean {
  return /^[a-z]+_[0-9a-z]{26}$/.test(id);
}

function onlyOne<T extends { readonly id: string }>(typed: string, found: readonly T[]): T {
  const [only, ...others] = found;
  if (only === undefined) throw new Failure(`there is no ${typed}`);
  if (others.length === 0) return only;
  const some = found.slice(0, 5).map(({ id }) => id);
  const all = found.length > some.length ? [...some, '…'] : some;
  throw new Failure(
    `${typed} matches ${found.length} ids (${all.join(', ')}): type more characters`,
    exitCodes.usage,
  );
}
