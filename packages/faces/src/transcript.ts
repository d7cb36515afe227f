import { isEventType } from './event-types.ts';
import type { Json, JsonObject } from './json.ts';
import { type GivenId, type TranscriptCall, TranscriptCalls } from './transcript-calls.ts';

/** The fields of a run event that faces use. */
export interface TranscriptEvent {
  readonly id: string;
  readonly type: string;
  readonly data: unknown;
}

interface FromEvent {
  /** The event that it comes from. */
  readonly id: string;
}

export interface CallItem extends FromEvent {
  readonly kind: 'call';
  /** The id of the call for clients, unique in the run. */
  readonly call: string;
  readonly name: string;
  readonly input: Json;
  /** False for a call that was shown before: in a request for permission, or before an interruption. */
  readonly isNew: boolean;
}

export interface ResultItem extends FromEvent {
  readonly kind: 'result';
  readonly call: string;
  readonly name: string;
  readonly ok: boolean;
  readonly output: Json;
}

/** The agent waits for a person. */
export type AskItem = PermissionItem | QuestionItem;

export interface PermissionItem extends FromEvent {
  readonly kind: 'ask';
  readonly about: 'permission';
  /** The interaction's key, by which it is answered. */
  readonly key: string;
  readonly call: string;
  readonly name: string;
  readonly input: Json;
  /** False where the call was shown before it was asked about. */
  readonly isNew: boolean;
  /** The payload of the event, which says why a person is asked and who may allow it. */
  readonly data: JsonObject;
}

export interface QuestionItem extends FromEvent {
  readonly kind: 'ask';
  readonly about: 'question';
  readonly key: string;
  readonly question: string;
  /** The other fields of the event: `options`, `multiple`, `about`. */
  readonly details: JsonObject;
}

export interface SettledItem extends FromEvent {
  readonly kind: 'settled';
  readonly key: string;
  /** Absent if the request is not in the events that were taken. */
  readonly ask: AskItem | undefined;
  /** The payload of `permission_resolved` or `user_answered`. */
  readonly outcome: JsonObject;
}

export interface EndItem extends FromEvent {
  readonly kind: 'end';
  readonly outcome: 'completed' | 'cancelled' | 'failed';
  readonly message: string | undefined;
  readonly code: string | undefined;
}

/** The parts of a run that readers see, in order, for every framework (D-191). */
export type TranscriptItem =
  | (FromEvent & { readonly kind: 'begin' })
  | (FromEvent & { readonly kind: 'text' | 'thought'; readonly text: string })
  | CallItem
  | ResultItem
  | AskItem
  | SettledItem
  | (FromEvent & {
      readonly kind: 'interrupted';
      readonly reason: string;
      /** Text from this event on is void. */
      readonly discardFrom: string | undefined;
    })
  | (FromEvent & { readonly kind: 'note'; readonly type: string; readonly data: JsonObject })
  /** The output of the agent, right before the end. */
  | (FromEvent & { readonly kind: 'output'; readonly output: Json })
  | EndItem;

/** Turns the events of one run into items. Take every event once and in order: a face keeps nothing else (D-190). */
export class RunTranscript {
  /** Absent until the run has one: a reader that waits for most of its time keeps a transcript all that time. */
  #calls: TranscriptCalls | undefined;
  #asks: Asks | undefined;

  /** The requests that wait for a person, the oldest first. */
  get waiting(): readonly AskItem[] {
    return this.#asks === undefined ? [] : [...this.#asks.waiting.values()];
  }

  take(event: TranscriptEvent): readonly TranscriptItem[] {
    const { id, type } = event;
    const data = fieldsOf(event.data);
    if (!isEventType(type)) return this.#frameworkItems(id, type, data);
    switch (type) {
      case 'run_started':
        return [{ kind: 'begin', id }];
      case 'run_resumed':
        return [];
      case 'message_delta':
        return [{ kind: 'text', id, text: textOf(data['text']) ?? '' }];
      case 'permission_request':
      case 'user_question':
        return this.#ask(id, type, data);
      case 'permission_resolved':
      case 'user_answered':
        return [this.#settle(id, data)];
      case 'run_interrupted': {
        const discardFrom = textOf(data['discard_from_event_id']);
        return [{ kind: 'interrupted', id, reason: textOf(data['reason']) ?? '', discardFrom }];
      }
      case 'run_completed':
      case 'run_cancelled':
      case 'error':
        return [this.#end(id, type, data)];
      case 'run_output':
        return [{ kind: 'output', id, output: data['output'] ?? null }];
      case 'permission_approved':
      case 'call_decided':
      case 'wait_started':
      case 'wait_ended':
      case 'connection_used':
      case 'context_file_loaded':
      case 'context_file_changed':
      case 'claude_md_loaded':
      case 'claude_md_changed':
      case 'agent_skills_loaded':
        return [{ kind: 'note', id, type, data }];
      default:
        return type satisfies never;
    }
  }

  /** Frameworks name these events alike: `<framework>.tool_call`, `<framework>.tool_result`, `<framework>.thought`. */
  #frameworkItems(id: string, type: string, data: JsonObject): readonly TranscriptItem[] {
    const name = type.slice(type.indexOf('.') + 1);
    if (name === type) return [{ kind: 'note', id, type, data }];
    const text = textOf(data['text']);
    if ((name === 'thought' || name === 'agent_thought_chunk') && text !== undefined) {
      return [{ kind: 'thought', id, text }];
    }
    const isUpdate = name === 'tool_call_update';
    const isOver = data['status'] === 'completed' || data['status'] === 'failed';
    const items: TranscriptItem[] = [];
    if (name === 'tool_call' || (isUpdate && this.#known(data) === undefined)) {
      items.push(this.#call(id, data));
    }
    if (name === 'tool_result' || ((isUpdate || name === 'tool_call') && isOver)) {
      items.push(...this.#result(id, data));
    }
    return items.length > 0 ? items : [{ kind: 'note', id, type, data }];
  }

  #call(id: string, data: JsonObject): CallItem {
    const given = nameOf(data);
    const known = this.#known(data);
    const isSame = known?.isOver === false && (given === undefined || given === known.name);
    const call = isSame
      ? known
      : this.#begin(id, given ?? noName, { given: idOf(data), isNamed: true });
    const input = data['input'] ?? data['raw_input'] ?? null;
    return { kind: 'call', id, call: call.id, name: call.name, input, isNew: !isSame };
  }

  #result(id: string, data: JsonObject): readonly TranscriptItem[] {
    const known = this.#known(data);
    // A framework may report an end twice.
    if (known?.isOver === true) return [];
    const open = known ?? this.#calls?.openOf(nameOf(data) ?? noName, idOf(data) === undefined);
    if (open === undefined) return [this.#call(id, data), ...this.#result(id, data)];
    open.isOver = true;
    const { id: call, name } = open;
    return [{ kind: 'result', id, call, name, ok: isOk(data), output: outputOf(data) }];
  }

  #ask(id: string, type: string, data: JsonObject): readonly TranscriptItem[] {
    const key = textOf(data['interaction_key']) ?? '';
    this.#asks ??= { all: new Map(), waiting: new Map() };
    const { all, waiting } = this.#asks;
    // A request that is announced again after a restart.
    if (all.has(key)) return [];
    const ask = type === 'user_question' ? questionOf(id, data) : this.#permission(id, data);
    all.set(key, ask);
    waiting.set(key, ask);
    return [ask];
  }

  #permission(id: string, data: JsonObject): PermissionItem {
    const key = textOf(data['interaction_key']) ?? '';
    const name = textOf(data['tool_name']) ?? noName;
    const named = idOf(data);
    // Requests of older logs have no id of the call; with some frameworks it was the request's.
    const alias = named ?? textOf(data['request_id']);
    const known = this.#calls?.newest(alias);
    const isNew = known?.isOver !== false;
    const call = isNew
      ? this.#begin(id, name, { given: alias, isNamed: named !== undefined })
      : known;
    const input = data['tool_input'] ?? null;
    return { kind: 'ask', about: 'permission', id, key, call: call.id, name, input, isNew, data };
  }

  #settle(id: string, outcome: JsonObject): SettledItem {
    const key = textOf(outcome['interaction_key']) ?? '';
    this.#asks?.waiting.delete(key);
    return { kind: 'settled', id, key, ask: this.#asks?.all.get(key), outcome };
  }

  #end(
    id: string,
    type: 'run_completed' | 'run_cancelled' | 'error',
    data: JsonObject,
  ): TranscriptItem {
    this.#asks?.waiting.clear();
    return {
      kind: 'end',
      id,
      outcome: outcomes[type],
      message: textOf(data['message']),
      code: textOf(data['error_code']),
    };
  }

  #known(data: JsonObject): TranscriptCall | undefined {
    return this.#calls?.newest(idOf(data));
  }

  #begin(event: string, name: string, given: GivenId): TranscriptCall {
    this.#calls ??= new TranscriptCalls();
    return this.#calls.begin(event, name, given);
  }
}

/** By key. */
interface Asks {
  readonly all: Map<string, AskItem>;
  readonly waiting: Map<string, AskItem>;
}

/** The name of a tool whose framework does not say it. */
const noName = 'tool';

const outcomes = {
  run_completed: 'completed',
  run_cancelled: 'cancelled',
  error: 'failed',
} as const;

function questionOf(id: string, data: JsonObject): QuestionItem {
  const { options, multiple, about } = data;
  return {
    kind: 'ask',
    about: 'question',
    id,
    key: textOf(data['interaction_key']) ?? '',
    question: textOf(data['question']) ?? '',
    details: {
      ...(options !== undefined && { options }),
      ...(multiple !== undefined && { multiple }),
      ...(about !== undefined && { about }),
    },
  };
}

function isOk({ ok, is_error, status }: JsonObject): boolean {
  if (typeof ok === 'boolean') return ok;
  if (typeof is_error === 'boolean') return !is_error;
  return status !== 'failed';
}

/** Fields of a result that are not its output. */
const described: ReadonlySet<string> = new Set(
  'tool_call_id name title kind status ok is_error input raw_input locations'.split(' '),
);

function outputOf(data: JsonObject): Json {
  const field = ['output', 'content', 'raw_output'].find((name) => name in data);
  if (field !== undefined) return data[field] ?? null;
  const rest = Object.entries(data).filter(([name]) => !described.has(name));
  return rest.length > 0 ? Object.fromEntries(rest) : null;
}

function nameOf({ name, title, kind }: JsonObject): string | undefined {
  return textOf(name) ?? textOf(title) ?? textOf(kind);
}

function idOf(data: JsonObject): string | undefined {
  return textOf(data['tool_call_id']);
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Every event has an object as its payload. */
function fieldsOf(data: unknown): JsonObject {
  return typeof data === 'object' && data !== null ? (data as JsonObject) : {};
}
