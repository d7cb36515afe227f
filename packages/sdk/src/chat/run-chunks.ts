import {
  type TranscriptEvent,
  type UiChunk,
  UiStream,
  type UiStreamOptions,
  type VoidText,
  eventsInstead,
  voidTextIn,
} from '@convoke/faces';
import type { EventDataByType } from '../generated/events.ts';
import type { Interactions } from '../runs/interactions.ts';
import { isAfter, isTerminalEvent } from '../runs/run-event.ts';
import type { Run } from '../runs/run.ts';
import { KeptParts, type PartChunk } from './kept-parts.ts';
import { SentChunks } from './sent-chunks.ts';

/** What a stream consists of, as all versions of the library know it; only version 7 is sent what only it knows. */
export type ChatChunk =
  | Exclude<UiChunk, { readonly type: 'reset-step' | 'tool-approval-response' }>
  | PartChunk;

export interface ChunkOptions
  extends Pick<UiStreamOptions, 'after' | 'shown' | 'hasEnded' | 'sdk' | 'isHeld'> {
  /** The page may show the message already: the beginning is held back until all that is known of the run is there. */
  readonly isReplay?: boolean;
  readonly interactions: Pick<Interactions, 'pending'>;
}

/** One stream of a run. It may read the log more than once. */
interface Reading {
  readonly run: Run;
  readonly options: ChunkOptions;
  readonly signal: AbortSignal;
  message: KeptParts | SentChunks;
  voids: readonly VoidText[];
  /** What happened up to this event is shown in one go. */
  until: string;
  hasStarted: boolean;
  /** Keys of requests that wait for other people. */
  readonly withheld: Set<string>;
}

/** The chunks of a run as one message. Returns true once the message shows the end of the run. */
export async function* chunksOf(
  run: Run,
  options: ChunkOptions,
  signal: AbortSignal,
): AsyncGenerator<UiChunk | PartChunk, boolean, undefined> {
  const until = options.isReplay === true ? run.record.last_event_id : undefined;
  const reading: Reading = {
    run,
    options,
    signal,
    message: new KeptParts(),
    voids: await voidsOf(run, signal),
    until: until ?? '',
    hasStarted: false,
    withheld: new Set(),
  };
  for (;;) {
    const outcome = yield* readLog(reading);
    if (outcome !== 'again') return outcome === 'ended';
  }
}

async function* readLog(
  reading: Reading,
): AsyncGenerator<UiChunk | PartChunk, 'ended' | 'left' | 'again', undefined> {
  const { run, options, signal, message, until } = reading;
  const instead = isEnded(run) ? await eventsOfDeleted(run, signal) : undefined;
  let newest = run.record;
  const ui = uiOf(reading, { usage: () => newest.usage, isTruncated: instead !== undefined });
  const take = (chunks: readonly UiChunk[]) => {
    for (const chunk of chunks) message.take(chunk);
  };
  const interruptions: TranscriptEvent[] = [];
  if (until === '') yield* started(reading, ui);
  for (const event of instead ?? []) take(ui.take(event));
  for await (const event of run.follow({ signal })) {
    const isEnd = isTerminalEvent(event);
    if (isEnd) newest = await run.read({ signal }).catch(() => newest);
    if (event.type === 'run_interrupted') interruptions.push(event);
    if (event.type === 'permission_request') await askWhoMay(reading, event.data);
    take(ui.take(event));
    if (ui.mustCut) {
      return beginAgain(reading, { until: event.id, voids: voidTextIn(interruptions) });
    }
    const isWaiting = !ui.isOver && ui.metadata().waiting.length > 0;
    if (isWaiting && options.isHeld !== true && (await isNewest(run, event.id, signal))) {
      take(ui.pause());
    }
    if (isAfter(until, event.id) && !ui.isOver) continue;
    yield* started(reading, ui);
    if (!(yield* message.show(ui.metadata()))) return sendInstead(reading, event.id);
    if (ui.isOver) return isEnd ? 'ended' : 'left';
  }
  return 'left';
}

function uiOf(
  { run, options, voids, message, withheld }: Reading,
  more: Pick<UiStreamOptions, 'usage' | 'isTruncated'>,
): UiStream {
  const { sdk, interactions: _, ...rest } = options;
  return new UiStream({
    ...rest,
    ...more,
    // What version 6 does not know is only important where the library reads the chunks.
    sdk: message instanceof SentChunks ? (sdk ?? 7) : 7,
    sessionId: run.sessionId,
    runId: run.id,
    voids,
    mayAllow: (_, key) => !withheld.has(key),
  });
}

/** A stream says who may allow a call, and the server who its reader is. The server refuses the others anyway. */
async function askWhoMay(
  { options, signal, withheld }: Reading,
  { interaction_key: key, approvers }: EventDataByType['permission_request'],
): Promise<void> {
  if (approvers === undefined) return;
  const { interactions } = options;
  try {
    for await (const request of interactions.pending({ signal })) {
      if (request.interaction_key === key && request.can_allow === false) withheld.add(key);
    }
  } catch (error) {
    if (signal.aborted) throw error;
  }
}

function* started(reading: Reading, ui: UiStream): Generator<UiChunk, void, undefined> {
  if (!reading.hasStarted) yield ui.start();
  reading.hasStarted = true;
}

/** Text of an earlier step was taken back: builds the message once more, without it. */
function beginAgain(reading: Reading, changed: Pick<Reading, 'until' | 'voids'>): 'again' {
  const { message, options } = reading;
  const isContinued = options.after !== undefined || options.shown !== undefined;
  if (message instanceof SentChunks || isContinued) {
    // The library shows such an error as a lost connection, and its resume rebuilds the message (D-207).
    throw new TypeError('network error: text that is shown was taken back');
  }
  message.restart();
  Object.assign(reading, changed);
  return 'again';
}

/** The page copies the chunks: sends them as the library knows them. */
function sendInstead(reading: Reading, until: string): 'again' {
  reading.message = new SentChunks();
  reading.until = until;
  return 'again';
}

export function isEnded({ record: { status } }: Run): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}

/** Whether nothing has followed an event, such as an answer to the request that it is. */
async function isNewest(run: Run, id: string, signal: AbortSignal): Promise<boolean> {
  const { last_event_id: known = '' } = run.record;
  if (id < known) return false;
  try {
    const { last_event_id: last = '' } = await run.read({ signal });
    return id >= last;
  } catch (error) {
    if (signal.aborted) throw error;
    // The server is away: the request is the newest that is known of the run.
    return true;
  }
}

/** Text that interruptions have discarded: a message that is built now does not show it. */
async function voidsOf(run: Run, signal: AbortSignal): Promise<readonly VoidText[]> {
  if (run.record.attempt < 2) return [];
  const events: TranscriptEvent[] = [];
  for await (const event of run.events({ signal })) {
    if (event.type === 'run_interrupted') events.push(event);
  }
  return voidTextIn(events);
}

/** What stands for the events of a run that were deleted (D-195). */
async function eventsOfDeleted(
  run: Run,
  signal: AbortSignal,
): Promise<readonly TranscriptEvent[] | undefined> {
  const [first] = (await run.events({ limit: 1, signal }).page()).items;
  if (first === undefined || Number(first.id) <= 1) return undefined;
  return eventsInstead(run.record.output_text ?? '', first.id.length);
}
