import {
  type Labels,
  type NoticeType,
  type RunId,
  type SessionId,
  type TenantId,
  formatEventId,
  formatNoticeId,
  isTerminalSessionStatus,
} from '@convoke/contract';
import type { Feedback } from './run/feedback.ts';
import { isoTime } from './iso-time.ts';
import type { JsonObject } from './json.ts';
import type { RunEventDraft } from './run/run-event.ts';
import { type Run, isLeased, isParked } from './run/run.ts';
import type { Session } from './session.ts';

/** D-110: a notification of a change. Thin: ids and states, never text of a conversation. */
export interface NoticeDraft {
  readonly type: NoticeType;
  readonly sessionId?: SessionId;
  readonly runId?: RunId;
  readonly at: number;
  readonly data: JsonObject;
}

/** A notice in the feed of its tenant. `body` is the exact JSON sent on the wire, in every copy (D-112). */
export interface Notice {
  readonly seq: number;
  readonly type: NoticeType;
  readonly body: string;
}

/** Notices of one tenant that have just got their numbers. */
export interface NumberedNotices {
  readonly tenantId: TenantId;
  readonly notices: readonly Notice[];
  readonly at: number;
}

/** The envelope of a notice without its `id`, which it gets with its number. */
export function noticeBody({ type, sessionId, runId, at, data }: NoticeDraft): string {
  return JSON.stringify({
    type,
    session_id: sessionId,
    run_id: runId,
    created_at: isoTime(at),
    data,
  });
}

/** Puts the number into the envelope; the other bytes stay as they were written. */
export function numberNotice({ type, body }: Pick<Notice, 'type' | 'body'>, seq: number): Notice {
  return { seq, type, body: `{"id":"${formatNoticeId(seq)}",${body.slice(1)}` };
}

export interface RunChange {
  /** Undefined when the run is new. */
  readonly before: Run | undefined;
  readonly after: Run;
  /** The events of the change, the last ones of the log. */
  readonly events: readonly RunEventDraft[];
  readonly at: number;
}

/** The notices of a change of a run, in the order of its log. */
export function runNotices({ before, after, events, at }: RunChange): NoticeDraft[] {
  const notices: NoticeDraft[] = [];
  const add = (type: NoticeType, data: JsonObject) => {
    const { sessionId, id: runId, agentName, labels } = after;
    const facts = { agent_name: agentName, ...labelsField(labels) };
    notices.push({ type, sessionId, runId, at, data: { ...facts, ...data } });
  };
  if (before === undefined) add('run_queued', { status: 'queued' });
  const first = after.lastSeq - events.length + 1;
  events.forEach((event, index) => {
    const notice = noticeOf(event, after);
    if (notice === undefined || (event.type === 'run_resumed' && isWokenByWait(before))) return;
    add(notice.type, { ...notice.data, run_event_id: formatEventId(first + index) });
  });
  // A run that a live runtime continues after its answers emits no event.
  const isAnswered =
    before?.status === 'waiting' &&
    isLeased(before) &&
    after.status === 'running' &&
    isLeased(after);
  const isResumeNoticed = notices.some(({ type }) => type === 'run_resumed');
  if (isAnswered && !isResumeNoticed) add('run_resumed', { status: 'running' });
  return notices;
}

/**
 * A time or a message has woken it, neither an answer nor the end of an interruption: a fan-in would be a notice each.
 */
function isWokenByWait(before: Run | undefined): boolean {
  if (before === undefined || !isParked(before)) return false;
  return before.status === 'running' || before.pendingInteractions > 0;
}

function noticeOf(
  { type, data }: RunEventDraft,
  run: Run,
): Pick<NoticeDraft, 'type' | 'data'> | undefined {
  switch (type) {
    case 'run_started':
    case 'run_interrupted':
    case 'run_resumed':
      return { type, data: { status: 'running' } };
    case 'run_completed':
      return { type, data: { status: 'completed' } };
    case 'run_cancelled':
      return { type, data: { status: 'cancelled' } };
    case 'error':
      return {
        type: 'run_failed',
        data: { status: 'failed', error_code: data['error_code'] ?? 'internal' },
      };
    case 'permission_request':
    case 'user_question':
      // A repetition tells of an interaction that has had its notice.
      if (data['replayed'] === true) return undefined;
      return { type: 'run_waiting', data: { status: 'waiting', ...interactionOf(type, data) } };
    case 'permission_approved':
      return {
        type: 'interaction_approved',
        data: { status: run.status, ...interactionOf(type, data) },
      };
    case 'permission_resolved':
    case 'user_answered':
      return {
        type: 'interaction_answered',
        data: { status: run.status, ...interactionOf(type, data) },
      };
    default:
      return undefined;
  }
}

interface FeedbackChange extends Pick<Feedback, 'key' | 'author'> {
  readonly score?: number | null;
  readonly at: number;
  readonly isDeleted?: true;
}

/** D-579: neither the value nor the comment, which may be words of a conversation. */
export function feedbackNotice(
  { id, sessionId, agentName, labels, status }: Run,
  { key, author, score = null, at, isDeleted }: FeedbackChange,
): NoticeDraft {
  const data = {
    agent_name: agentName,
    ...labelsField(labels),
    status,
    feedback_key: key,
    ...(score === null ? {} : { score }),
    author_kind: author.kind,
    ...(isDeleted === undefined ? {} : { deleted: true }),
  };
  return { type: 'run_feedback', sessionId, runId: id, at, data };
}

function labelsField(labels: Labels): { labels?: Labels } {
  return Object.keys(labels).length === 0 ? {} : { labels };
}

function interactionOf(type: string, data: JsonObject): JsonObject {
  const kind = type.startsWith('permission') ? 'permission' : 'question';
  return { interaction_key: data['interaction_key'] ?? '', kind };
}

/** The notice of a change of a session, if the change has one. `before` is absent when the session is new. */
export function sessionNotices(
  before: Session | undefined,
  after: Session,
  at: number,
): NoticeDraft[] {
  const { id: sessionId, agentName, labels, status } = after;
  const data = { agent_name: agentName, ...labelsField(labels), status };
  const about = { sessionId, at, data };
  if (before === undefined) return [{ type: 'session_created', ...about }];
  if (before.status === status) return [];
  if (status === 'stopped') return [{ type: 'session_stopped', ...about }];
  const hasEnded = isTerminalSessionStatus(status) && !isTerminalSessionStatus(before.status);
  return hasEnded ? [{ type: 'session_ended', ...about }] : [];
}
