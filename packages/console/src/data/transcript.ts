import type { EventDataByType, Json, RunEvent } from '@convoke/sdk';

/** The entries of a run's conversation, in order. */
export type TranscriptItem = TextItem | AskItem | ToolItem | NoteItem | FailureItem;

interface DatedItem {
  /** Id of the event that began it. */
  readonly id: string;
  readonly at: string;
}

export interface TextItem extends DatedItem {
  readonly kind: 'text';
  text: string;
}

export interface AskItem extends DatedItem {
  readonly kind: 'ask';
  /** The interaction's key, by which it is answered. */
  readonly key: string;
  readonly request:
    | ({ readonly kind: 'permission' } & EventDataByType['permission_request'])
    | ({ readonly kind: 'question' } & EventDataByType['user_question']);
  readonly resolution?:
    | ((EventDataByType['permission_resolved'] | EventDataByType['user_answered']) & {
        readonly at: string;
      })
    | undefined;
}

export interface ToolItem extends DatedItem {
  readonly kind: 'tool';
  /** Of an agent as code, which calls it a step. */
  readonly isStep: boolean;
  /** It had begun before, and its process was lost. */
  readonly isAgain: boolean;
  readonly key: string;
  readonly name: string;
  readonly input: Json | undefined;
  readonly ok?: boolean | undefined;
  readonly output?: Json | undefined;
  /** A person is asked whether it may run: it has not begun. */
  readonly isAsked?: boolean | undefined;
  /** The agent has said its output: it is in the text that follows. */
  readonly isSpoken?: boolean | undefined;
  readonly endedAt?: string | undefined;
  /** The run was interrupted while it ran: whether it was carried out is not known. */
  readonly isCut?: boolean | undefined;
}

export interface NoteItem extends DatedItem {
  readonly kind: 'note';
  readonly note:
    | 'interrupted'
    | 'resumed'
    | 'resumed with a changed agent'
    | 'not yielding'
    | 'denied by a rule';
  /** Why it was interrupted, or a whole sentence where the note has nothing else to say. */
  readonly reason?: string | undefined;
  /** Text was discarded. */
  readonly hasCut?: boolean | undefined;
  readonly callsInDoubt?: number | undefined;
  /** Steps that had ended: their results are used again, and they are not. */
  readonly keptSteps?: number | undefined;
}

export interface FailureItem extends DatedItem {
  readonly kind: 'failure';
  readonly message: string;
  readonly code: string | undefined;
}

export function askOf(
  event: Extract<RunEvent, { type: 'permission_request' | 'user_question' }>,
): AskItem {
  const request =
    event.type === 'permission_request'
      ? { kind: 'permission' as const, ...event.data }
      : { kind: 'question' as const, ...event.data };
  return {
    kind: 'ask',
    id: event.id,
    at: event.created_at,
    key: event.data.interaction_key,
    request,
  };
}

interface TalkedRun {
  readonly items: readonly TranscriptItem[];
  readonly hasEnded: boolean;
}

/** The requests of a run without an answer. */
export function openRequests({ items, hasEnded }: TalkedRun): readonly AskItem[] {
  if (hasEnded) return [];
  return items.filter(
    (item): item is AskItem => item.kind === 'ask' && item.resolution === undefined,
  );
}

/** The question of the agent that a message can answer: there is exactly one request, and it is a question in words. */
export function oneOpenQuestion(
  runs: readonly TalkedRun[],
): (AskItem & { readonly request: { readonly kind: 'question' } }) | undefined {
  const open = runs.flatMap(openRequests);
  const [only] = open;
  if (open.length !== 1 || only === undefined) return undefined;
  const { request } = only;
  return request.kind === 'question' && request.about === undefined
    ? { ...only, request }
    : undefined;
}

/** Tools that only read. Any other that was called may have changed something. */
const reading = new Set(['read_file', 'list_files', 'fetch_url']);

/** Names of the tools that a run called and that may have had an effect, each once. */
export function toolsWithEffect(items: readonly TranscriptItem[]): readonly string[] {
  const called = items.flatMap((item) =>
    item.kind === 'tool' && !reading.has(item.name) ? [item.name] : [],
  );
  return [...new Set(called)];
}
