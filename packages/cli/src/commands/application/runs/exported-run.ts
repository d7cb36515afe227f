import type { Convoke, FeedbackRecord, Json, RunEvent, RunRecord, RunSummary } from '@convoke/sdk';
import { RunTranscript } from '@convoke/faces';

export interface ExportedCall {
  name: string;
  input: Json;
  /** Null where the call has no result. */
  ok: boolean | null;
  output?: Json;
}

/** A run as one line of an export (D-581). Fields are those of the API, where it has them. */
export interface ExportedRun {
  readonly run_id: string;
  readonly [field: string]: unknown;
  /** Null where the events of the run are deleted. */
  readonly calls: readonly ExportedCall[] | null;
  readonly feedback: readonly FeedbackRecord[];
}

/** Reads all that is exported of a run: its record, the calls in its log, and its feedback. */
export async function exportRun(convoke: Convoke, summary: RunSummary): Promise<ExportedRun> {
  const run = convoke.sessions.at(summary.session_id).runs.at(summary.id);
  const [record, feedback] = await Promise.all([run.read(), run.feedback.list()]);
  const calls = await callsOf(record, run.events({ limit: 100 }));
  return lineOf(record, { calls, feedback });
}

/** The fields of a record that are exported under their own names, in the order of the line. */
const before = ['agent_digest', 'status', 'error_code', 'input', 'output', 'output_text'] as const;
const after = ['labels', 'usage', 'created_at', 'started_at', 'ended_at', 'trace_id'] as const;

function lineOf(
  record: RunRecord,
  { calls, feedback }: Pick<ExportedRun, 'calls' | 'feedback'>,
): ExportedRun {
  const fields = new Map<string, unknown>(Object.entries(record));
  const named = (names: readonly string[]) =>
    Object.fromEntries(
      names.flatMap((name) => (fields.has(name) ? [[name, fields.get(name)]] : [])),
    );
  return {
    run_id: record.id,
    session_id: record.session_id,
    agent_name: record.agent_name,
    ...named(before),
    calls,
    feedback,
    ...named(after),
  };
}

/** The calls of a log with their results, whatever the framework is. */
export async function callsOf(
  { last_event_id }: Pick<RunRecord, 'last_event_id'>,
  events: AsyncIterable<RunEvent>,
): Promise<readonly ExportedCall[] | null> {
  const transcript = new RunTranscript();
  const calls = new Map<string, ExportedCall>();
  let first: string | undefined;
  for await (const event of events) {
    first ??= event.id;
    // Retention deletes a log from its beginning.
    if (Number(first) !== 1) return null;
    for (const item of transcript.take(event)) {
      if (item.kind === 'call' || (item.kind === 'ask' && item.about === 'permission')) {
        const { name, input } = item;
        calls.set(item.call, { ok: null, ...calls.get(item.call), name, input });
      }
      if (item.kind === 'result') {
        const { call, name, ok, output } = item;
        calls.set(call, { ...(calls.get(call) ?? { name, input: {} }), ok, output });
      }
    }
  }
  return first === undefined && last_event_id !== undefined ? null : [...calls.values()];
}
