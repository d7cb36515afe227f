import type { SessionUpdate } from '@agentclientprotocol/sdk';
import type { Run, RunEvent, SessionHandle } from '@convoke/sdk';
import { RunTranscript, type TranscriptItem, interruptedText } from '@convoke/faces';
import { collect } from '../../collect.ts';
import { outputText, said, updatesOf } from './updates.ts';

/** The newest runs of a session that an editor is shown. */
const runsMax = 50;
/** Of a run with more events, or whose events are deleted, only the answer is shown. */
const eventsMax = 5000;
const pageSize = 100;

/** Yields the updates for a session that an editor opens again (D-214). */
export async function* historyOf(session: SessionHandle): AsyncGenerator<SessionUpdate> {
  const runs = await collect(session.runs.list({ limit: runsMax }), runsMax);
  for (const run of runs.toReversed()) {
    yield said('user_message_chunk', promptOf(run));
    yield* runUpdates(run);
  }
}

async function* runUpdates(run: Run): AsyncGenerator<SessionUpdate> {
  const events = await collect(run.events({ limit: pageSize }), eventsMax + 1);
  if (events.length === 0 || events.length > eventsMax) {
    const { output_text: text, output } = run.record;
    if (text) yield said('agent_message_chunk', text);
    if (output !== undefined) yield said('agent_message_chunk', outputText(output));
    return;
  }
  const transcript = new RunTranscript();
  for (const item of joined(kept(events).flatMap((event) => transcript.take(event)))) {
    yield* updatesOf(item, run.id);
  }
}

/** The events without the words that an interruption has taken back, and without the interruption. */
function kept(events: readonly RunEvent[]): RunEvent[] {
  const found: RunEvent[] = [];
  for (const event of events) {
    const from = event.type === 'run_interrupted' ? event.data.discard_from_event_id : undefined;
    if (from === undefined) {
      found.push(event);
      continue;
    }
    const remaining = found.filter(({ id, type }) => type !== 'message_delta' || id < from);
    found.splice(0, found.length, ...remaining);
  }
  return found;
}

/** The pieces of an answer as one text. */
function joined(items: readonly TranscriptItem[]): TranscriptItem[] {
  const all: TranscriptItem[] = [];
  for (const item of items) {
    const last = all.at(-1);
    if (item.kind === 'text' && item.text === interruptedText) continue;
    if (last?.kind === 'text' && item.kind === 'text') {
      all.splice(-1, 1, { ...last, text: last.text + item.text });
    } else all.push(item);
  }
  return all;
}

function promptOf({ record }: Run): string {
  const { prompt } = record.input;
  return typeof prompt === 'string' ? prompt : JSON.stringify(record.input);
}
