import { type RunId, type SessionId, formatEventId, isTerminalEventType } from '@convoke/contract';
import { isoTime } from '../iso-time.ts';
import type { JsonObject } from '../json.ts';
import { type Run, type RunOutcome, isEnded, outcomeOf } from './run.ts';

/** An event before it has a sequence number. */
export interface RunEventDraft {
  readonly type: string;
  readonly data: JsonObject;
}

/** One entry of a run's log. `body` is the exact JSON sent on the wire, live and on every replay (D-31). */
export interface RunEvent {
  readonly seq: number;
  readonly type: string;
  readonly body: string;
}

export interface LogPosition {
  readonly sessionId: SessionId;
  readonly runId: RunId;
  /** Sequence number that the first of these follows. */
  readonly after: number;
  readonly createdAt: string;
}

/** The members that the events share are written once: ids and times have nothing to escape. */
export function placeEvents(drafts: readonly RunEventDraft[], position: LogPosition): RunEvent[] {
  const { sessionId, runId, after, createdAt } = position;
  const shared = `"session_id":"${sessionId}","run_id":"${runId}","created_at":"${createdAt}"`;
  return drafts.map(({ type, data }, index) => {
    const seq = after + index + 1;
    const own = `"id":"${formatEventId(seq)}","type":${JSON.stringify(type)}`;
    return { seq, type, body: `{${own},${shared},"data":${JSON.stringify(data)}}` };
  });
}

/** D-566: the last events of a run. The output comes before the one event that ends the run. */
export function lastEvents(
  runId: RunId,
  outcome: RunOutcome,
  mark: { readonly recovered: boolean },
): readonly RunEventDraft[] {
  const end = terminalEvent(runId, outcome, mark);
  if (outcome.status !== 'completed' || outcome.output === undefined) return [end];
  return [{ type: 'run_output', data: { run_id: runId, output: outcome.output } }, end];
}

/** D-21: the one event that ends a run. */
export function terminalEvent(
  runId: RunId,
  outcome: RunOutcome,
  { recovered }: { readonly recovered: boolean },
): RunEventDraft {
  const mark = recovered ? { recovered: true } : {};
  switch (outcome.status) {
    case 'completed':
      return { type: 'run_completed', data: { run_id: runId, ...mark } };
    case 'cancelled':
      return { type: 'run_cancelled', data: { run_id: runId, ...mark } };
    case 'failed':
      return {
        type: 'error',
        data: { message: outcome.message, error_code: outcome.code, ...mark },
      };
    default:
      return outcome satisfies never;
  }
}

/** The terminal event of an ended run, rebuilt from its row, at the position it had (D-31: the same bytes). */
export function rememberedEnd(run: Run): RunEvent | undefined {
  if (!isEnded(run)) return undefined;
  const [end] = placeEvents([terminalEvent(run.id, outcomeOf(run), run)], {
    sessionId: run.sessionId,
    runId: run.id,
    after: run.lastSeq - 1,
    createdAt: isoTime(run.lastEventAt),
  });
  return end;
}

/** Prefixes an event of a harness with its framework, so it cannot imitate an event of the service. */
export function harnessEventType(framework: string, name: string): string {
  return `${framework}.${name}`;
}

export function endsRun(event: Pick<RunEvent, 'type'>): boolean {
  return isTerminalEventType(event.type);
}
