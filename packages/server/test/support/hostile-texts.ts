import type { HarnessEvent, NewCall } from '../../src/ports/harness.ts';
import type { CallResult } from '../../src/domain/run/tool-call.ts';

/** Texts that a database, a parser or a terminal may not like. */
export const hostileTexts = {
  NUL: 'a\u0000b',
  'a lone surrogate': 'a\ud800b',
  'U+2028': 'a\u2028b',
  '1 MiB': 'x'.repeat(1024 * 1024),
} as const;
export type HostileText = keyof typeof hostileTexts;

type Make<Made> = (text: string) => Made;

/** The members of any variant of a union, with the type that they have there. */
type NamesOf<Union> = Union extends unknown ? keyof Union : never;
type ValueOf<Union, Name> = Union extends unknown
  ? Name extends keyof Union
    ? NonNullable<Union[Name]>
    : never
  : never;

/**
 * A function for each place of a value that takes any text, in the shape of the value. Numbers and fixed words have
 * none.
 */
type TextsOf<Value, Made> = [Value] extends [never]
  ? never
  : [string] extends [Value]
    ? Make<Made>
    : [Value] extends [readonly (infer Item)[]]
      ? TextsOf<Item, Made>
      : [Value] extends [object]
        ? string extends keyof Value
          ? Make<Made>
          : {
              readonly [Name in NamesOf<Value> as TextsOf<ValueOf<Value, Name>, Made> extends never
                ? never
                : Name]: TextsOf<ValueOf<Value, Name>, Made>;
            }
        : never;

type EventTexts = {
  readonly [Type in HarnessEvent['type']]: TextsOf<
    Extract<HarnessEvent, { type: Type }>,
    HarnessEvent
  >;
};

const permission = { type: 'permission_request', ref: 'r', toolName: 't', toolInput: {} } as const;
const question = { type: 'user_question', ref: 'r', question: 'q' } as const;
const wait = { type: 'wait', ref: 'r', kind: 'timer', name: 'n', due: { inMs: 1 } } as const;
const usage = { type: 'usage', inputTokens: 1, outputTokens: 1 } as const;
const checkpoint = { type: 'checkpoint', state: {}, recovery: true } as const;

/** An event for each of its texts. The compiler refuses this table while a text of an event has no entry. */
const eventTexts: EventTexts = {
  message_delta: {
    text: (text) => ({ type: 'message_delta', text }),
    model: (model) => ({ type: 'message_delta', text: 'hi', model }),
    point: (text) => ({ type: 'message_delta', text: 'hi', point: { [text]: text } }),
  },
  permission_request: {
    ref: (ref) => ({ ...permission, ref }),
    toolName: (toolName) => ({ ...permission, toolName }),
    toolInput: (text) => ({ ...permission, toolInput: { [text]: [text] } }),
    toolCallId: (toolCallId) => ({ ...permission, toolCallId }),
  },
  user_question: {
    ref: (ref) => ({ ...question, ref }),
    question: (asked) => ({ ...question, question: asked }),
    options: {
      label: (label) => ({ ...question, options: [{ label }] }),
      description: (description) => ({ ...question, options: [{ label: 'l', description }] }),
    },
  },
  wait: {
    ref: (ref) => ({ ...wait, ref }),
    name: (name) => ({ ...wait, name }),
    due: {},
    input: (text) => ({ ...wait, kind: 'run', input: { [text]: [text] } }),
    ceiling: {},
  },
  checkpoint: {
    state: (text) => ({ ...checkpoint, state: { [text]: text } }),
    usage: {
      model: (model) => ({ ...checkpoint, usage: { ...usage, model } }),
      cost: {
        currency: (currency) => ({
          ...checkpoint,
          usage: { ...usage, cost: { micros: 1, currency } },
        }),
      },
    },
  },
  usage: {
    model: (model) => ({ ...usage, model }),
    cost: { currency: (currency) => ({ ...usage, cost: { micros: 1, currency } }) },
  },
  custom: {
    name: (name) => ({ type: 'custom', name, data: {} }),
    data: (text) => ({ type: 'custom', name: 'n', data: { [text]: [text] } }),
    point: (text) => ({ type: 'custom', name: 'n', data: {}, point: { [text]: text } }),
  },
  end: {
    message: (message) => ({ type: 'end', outcome: 'error', code: 'agent_error', message }),
    state: (text) => ({ type: 'end', outcome: 'completed', state: { [text]: text } }),
    output: (text) => ({ type: 'end', outcome: 'completed', output: { [text]: [text] } }),
  },
};

export interface CallEntry {
  readonly begin: NewCall;
  readonly end: { readonly ref: string; readonly result: CallResult };
}

const call: CallEntry = {
  begin: { ref: 'c', toolName: 't', input: {}, touches: 'outside' },
  end: { ref: 'c', result: { ok: true, output: '' } },
};

/** The same for the entries of the call ledger. */
const callTexts: TextsOf<CallEntry, CallEntry> = {
  begin: {
    ref: (ref) => ({ ...call, begin: { ...call.begin, ref } }),
    toolName: (toolName) => ({ ...call, begin: { ...call.begin, toolName } }),
    toolCallId: (toolCallId) => ({ ...call, begin: { ...call.begin, toolCallId } }),
    input: (text) => ({ ...call, begin: { ...call.begin, input: { [text]: text } } }),
    wholeInput: (text) => ({ ...call, begin: { ...call.begin, wholeInput: { [text]: text } } }),
  },
  end: {
    ref: (ref) => ({ ...call, end: { ...call.end, ref } }),
    result: {
      output: (output) => ({ ...call, end: { ref: 'c', result: { ok: true, output } } }),
    },
  },
};

/** The texts of a table, each with the path of its field. */
function placesOf<Made>(table: object, path = ''): [path: string, make: Make<Made>][] {
  return Object.entries(table).flatMap(([name, entry]) => {
    const field = path === '' ? name : `${path}.${name}`;
    return typeof entry === 'function' ? [[field, entry]] : placesOf<Made>(entry, field);
  });
}

export const textsOfEvents = placesOf<HarnessEvent>(eventTexts);
export const textsOfCalls = placesOf<CallEntry>(callTexts);
