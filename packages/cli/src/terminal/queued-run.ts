import { setTimeout as delay } from 'node:timers/promises';
import type { Convoke, RunHandle, RunRecord } from '@convoke/sdk';
import { oneLine, remark } from './output.ts';
import { waitOf } from './show-run.ts';

/** A run that is not queued has its first event by then. */
const firstLookMs = 1000;
const lookAgainMsMax = 15_000;

type Wait = NonNullable<RunRecord['waiting_on']>[number];

interface QueueParts {
  readonly run: RunHandle;
  readonly convoke: Convoke;
  /** Called when the run before it waits for a person. */
  readonly onPerson: () => void;
}

/**
 * While a run is queued, says what the run before it in its session waits for, and how to end that: it may take weeks.
 * It looks after a second, and then less and less often, until `stop`.
 */
export function watchQueue(parts: QueueParts): { stop(): void } {
  const stopping = new AbortController();
  // The run itself is followed: what goes wrong here is said there.
  watch(parts, stopping.signal).catch(() => {});
  return { stop: () => stopping.abort() };
}

async function watch({ run, convoke, onPerson }: QueueParts, signal: AbortSignal): Promise<void> {
  let said = '';
  for (let pauseMs = firstLookMs; ; pauseMs = Math.min(2 * pauseMs, lookAgainMsMax)) {
    await delay(pauseMs, undefined, { signal, ref: false });
    if ((await run.read({ signal })).status !== 'queued') return;
    const before = await waitingRun(convoke, run, signal);
    const text = before === undefined ? '' : queuedBehind(before);
    if (before === undefined || text === said || signal.aborted) continue;
    said = text;
    remark(text, 'dim');
    if (before.waiting_on?.some(({ kind }) => kind === 'interaction') === true) onPerson();
  }
}

/** The run of the session that executes, if it waits for something. */
async function waitingRun(
  convoke: Convoke,
  { sessionId }: RunHandle,
  signal: AbortSignal,
): Promise<RunRecord | undefined> {
  const { runs } = convoke.sessions.at(sessionId);
  for (const status of ['waiting', 'running'] as const) {
    const { items } = await runs.list({ status, limit: 1, signal }).page();
    const [run] = items;
    if (run === undefined) continue;
    const { pending_interactions: people, open_waits: others = 0 } = run.record;
    return people + others === 0 ? undefined : run.read({ signal });
  }
  return undefined;
}

/** Says what the run waits for, with the commands that end it. */
export function queuedBehind(before: Pick<RunRecord, 'id' | 'session_id' | 'waiting_on'>): string {
  const { id, waiting_on: waits = [] } = before;
  const lines = waits.map((wait) => `  ${oneLine(`${whatOf(wait)}${remedyOf(wait, before)}`)}`);
  return [`queued behind ${id}:`, ...lines, `  cancel it with: convoke runs cancel ${id}`].join(
    '\n',
  );
}

function whatOf({ kind, name, ...wait }: Wait): string {
  if (kind !== 'interaction') return waitOf({ kind, name, ...wait });
  return `waits for ${name === 'question' ? 'an answer' : `permission to run ${name}`}`;
}

/** The command with which a person ends the wait, or sees more of it. */
function remedyOf(
  { kind, name, interaction_key: key, child_run_id: called }: Wait,
  { id, session_id: session }: Pick<RunRecord, 'id' | 'session_id'>,
): string {
  if (kind === 'interaction') {
    const answer = name === 'question' ? '--answer …' : '--allow';
    return `; answer with: convoke interactions answer ${session} ${key} ${answer}`;
  }
  if (kind === 'signal') return `; send it with: convoke runs signal ${id} ${name}`;
  return called === undefined ? '' : `; see: convoke runs show ${called}`;
}
