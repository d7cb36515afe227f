// Requests that the reader of a face may not allow: they are told, and not offered.
import * as seven from 'ai';
import * as six from 'ai-v6';
import { EventSchema } from '@ag-ui/core/schemas';
import { describe, expect, test } from 'vitest';
import {
  A2aStream,
  AgUiStream,
  type Approvers,
  type TranscriptEvent,
  type UiChunk,
  UiStream,
  type UiStreamOptions,
  assistantMessage,
  formOf,
  McpRun,
  resultOf,
} from '../src/index.ts';
import { logOf, said } from './written-events.ts';

const run = { sessionId: 'sess_1', runId: 'run_1' };
const admins: Approvers = {
  role: 'admin',
  people: 1,
  not_starter: false,
  clients: false,
  end_users: false,
};
const rules = [{ source: 'agent', name: 'notes', reason: 'Notes are public.' }];

const asked = (key: string, approvers?: Approvers) =>
  [
    'permission_request',
    {
      interaction_key: key,
      tool_call_id: key,
      tool_name: 'write',
      tool_input: { key },
      rules,
      ...(approvers && { approvers }),
    },
  ] as const;
const resolved = (key: string, decision = 'allow') =>
  ['permission_resolved', { interaction_key: key, decision }] as const;
const begun = ['run_started', {}] as const;

/** No reader of these tests is an admin. */
const mayAllow = () => false;

function chunksOf(
  events: readonly TranscriptEvent[],
  { batch = 1, ...options }: Partial<UiStreamOptions> & { readonly batch?: number } = {},
) {
  const stream = new UiStream({ ...run, mayAllow, ...options });
  const chunks = [stream.start()];
  for (const [index, event] of events.entries()) {
    chunks.push(...stream.take(event, (index + 1) % batch !== 0));
  }
  return [...chunks, ...stream.pause()];
}

async function built(chunks: readonly UiChunk[], library = seven, before?: seven.UIMessage) {
  const stream = new ReadableStream<seven.UIMessageChunk>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
  let last: seven.UIMessage | undefined;
  const message = before && structuredClone(before);
  for await (const each of library.readUIMessageStream({ stream, ...(message && { message }) })) {
    last = each;
  }
  return JSON.parse(JSON.stringify(last)) as seven.UIMessage;
}

/** Whether the library would send the message on its own. */
function isSent(message: seven.UIMessage): boolean {
  const messages = [message];
  return (
    seven.lastAssistantMessageIsCompleteWithApprovalResponses({ messages }) ||
    seven.lastAssistantMessageIsCompleteWithToolCalls({ messages })
  );
}

/** The person of the page answers everything that it offers. */
function answered({ parts, ...message }: seven.UIMessage): seven.UIMessage {
  const decided = parts.map((part) => {
    if (part.type !== 'dynamic-tool') return part;
    if (part.toolName === 'ask_user' && part.state === 'input-available') {
      return { ...part, state: 'output-available', output: 'red' };
    }
    return part.state === 'approval-requested'
      ? { ...part, state: 'approval-responded', approval: { ...part.approval, approved: true } }
      : part;
  });
  return { ...message, parts: decided as seven.UIMessage['parts'] };
}

describe('a chat of the AI SDK', () => {
  const log = logOf(begun, said('I write.'), asked('p', admins));

  test('gets the event and the key of a request for other people, and nothing that allows it', async () => {
    const chunks = chunksOf(log);
    const [, event] = log.slice(1);
    expect(chunks).toContainEqual({
      type: 'data-convoke',
      data: { type: 'permission_request', data: event?.data },
      transient: true,
    });
    expect(JSON.stringify(chunks)).not.toContain('tool-approval');
    expect(chunks.at(-1)).toMatchObject({ messageMetadata: { status: 'waiting', waiting: ['p'] } });
    const message = await built(chunks);
    expect(message.parts.at(-1)).toMatchObject({ state: 'input-available', toolCallId: 'p' });
    // No step of its own: nothing in it is answered by this person.
    const types = message.parts.map(({ type }) => type);
    expect(types).toEqual(['step-start', 'text', 'dynamic-tool']);
    expect(isSent(message)).toBe(false);
  });

  test.each([
    ['allow', { state: 'output-available', output: 'done' }],
    ['deny', { state: 'output-error', errorText: 'A person denied this call.' }],
  ])('shows the outcome of a call that other people %s', async (decision, part) => {
    const result = ['claude.tool_result', { tool_call_id: 'p', content: 'done' }] as const;
    const events = logOf(begun, asked('p', admins), resolved('p', decision), result);
    const message = await built(chunksOf(events));
    expect(message.parts.at(-1)).toMatchObject(part);
    const shown = assistantMessage({ ...run, mayAllow }, events);
    expect(JSON.parse(JSON.stringify(shown.parts))).toEqual(message.parts);
  });

  test('gets no request that needs several people, and every request of a reader that may', () => {
    const two = logOf(begun, asked('p', { ...admins, people: 2 }));
    const requests = (events: readonly TranscriptEvent[]) =>
      chunksOf(events, { mayAllow: () => true }).filter(
        ({ type }) => type === 'tool-approval-request',
      );
    expect(requests(two)).toEqual([]);
    expect(requests(log)).toHaveLength(1);
  });

  const question = (key: string) =>
    ['user_question', { interaction_key: key, question: 'Which?' }] as const;
  const answer = (key: string) =>
    ['user_answered', { interaction_key: key, answer: 'red' }] as const;
  /** Requests of both kinds beside questions; each prefix of the log is a moment at which a response may end. */
  const mixed = (forOthers: ReadonlySet<string>) => {
    const ask = (key: string) => asked(key, forOthers.has(key) ? admins : undefined);
    const call = (key: string) =>
      ['claude.tool_call', { tool_call_id: key, name: 'write', input: { key } }] as const;
    return logOf(
      begun,
      said('I write.'),
      ...['a', 'b', 'd'].map(call),
      ...['a', 'b', 'c'].map(ask),
      question('q'),
      ask('d'),
      resolved('c'),
      answer('q'),
      resolved('a', 'deny'),
      ['claude.tool_result', { tool_call_id: 'c', content: 'done' }],
      ask('e'),
      resolved('b'),
      resolved('d'),
      resolved('e'),
      said('Written.'),
      ['run_completed', {}],
    );
  };
  const subsets = Array.from({ length: 32 }, (_, bits) =>
    ['a', 'b', 'c', 'd', 'e'].filter((__, index) => (bits & (1 << index)) !== 0),
  );

  const versions = [
    [seven, 7],
    [six as unknown as typeof seven, 6],
  ] as const;
  /** Every response that ends because the run waits. */
  const responsesTo = (
    events: readonly TranscriptEvent[],
    options: Partial<UiStreamOptions> = {},
  ) =>
    events
      .map((_, index) => chunksOf(events.slice(0, index + 1), options))
      .filter((chunks) => {
        const last = chunks.at(-1);
        return last?.type === 'finish' && last.finishReason === 'tool-calls';
      });
  const isOffering = ({ parts }: seven.UIMessage) =>
    parts.some((part) => part.type === 'dynamic-tool' && part.state === 'approval-requested');

  test.each(subsets.map((keys) => ({ keys })))(
    'is never sent again on its own while others decide ($keys)',
    async ({ keys }) => {
      const events = mixed(new Set(keys));
      for (const [library, sdk] of versions) {
        for (const chunks of responsesTo(events, { sdk })) {
          const message = await built(chunks, library);
          expect(isSent(message)).toBe(false);
          // What it offers is sent when all of it is answered, whatever waits for others.
          if (sdk === 7 && isOffering(message)) expect(isSent(answered(message))).toBe(true);
        }
      }
    },
  );

  test.each(subsets.map((keys) => ({ keys })))(
    'is the same message in batches, and continued ($keys)',
    async ({ keys }) => {
      const events = mixed(new Set(keys));
      const whole = await built(chunksOf(events, { hasEnded: true }));
      for (const batch of [2, 3, events.length]) {
        expect(await built(chunksOf(events, { batch, hasEnded: true }))).toEqual(whole);
      }
      for (const chunks of responsesTo(events)) {
        const finish = chunks.at(-1);
        const after = finish?.type === 'finish' ? finish.messageMetadata.last_event_id : undefined;
        const rest = chunksOf(events, { after, hasEnded: true });
        expect(await built(rest, seven, await built(chunks))).toEqual(whole);
      }
    },
  );
});

describe('a client of AG-UI', () => {
  const eventsOf = (events: readonly TranscriptEvent[], mayAllowAny = false) => {
    const stream = new AgUiStream({
      threadId: 't',
      runId: 'r',
      run,
      mayAllow: () => mayAllowAny,
    });
    return [...stream.start(), ...events.flatMap((each) => stream.take(each)), ...stream.pause()];
  };

  test('gets no interrupt for a request of other people, but is told of it', () => {
    const [type, data] = asked('p', admins);
    const expires_at = '2026-01-02T00:00:00.000Z';
    const events = eventsOf(logOf(begun, [type, { ...data, expires_at }]));
    for (const event of events) expect(EventSchema.safeParse(event).success).toBe(true);
    expect(events.slice(-2)).toMatchObject([
      {
        type: 'CUSTOM',
        name: 'convoke.waiting',
        value: { interaction_key: 'p', tool_name: 'write', rules, approvers: admins, expires_at },
      },
      {
        type: 'RUN_FINISHED',
        outcome: { type: 'success' },
        metadata: { convoke: { status: 'waiting', waiting: ['p'] } },
      },
    ]);
  });

  test('gets interrupts for what it may decide beside it', () => {
    const events = eventsOf(logOf(begun, asked('p', admins), asked('x')));
    expect(events.at(-1)).toMatchObject({
      outcome: { type: 'interrupt', interrupts: [{ id: 'x' }] },
    });
    const all = eventsOf(logOf(begun, asked('p', admins), asked('x')), true);
    expect(all.at(-1)).toMatchObject({ outcome: { interrupts: [{ id: 'p' }, { id: 'x' }] } });
    expect(JSON.stringify(all)).not.toContain('convoke.waiting');
  });
});

test('a task of A2A works while other people decide, and says who', () => {
  const line =
    'The call of write waits for permission. Notes are public. Allowing it needs a person who is admin or owner.';
  const events = logOf(begun, asked('p', admins), asked('x'), resolved('x'), resolved('p'));
  const stream = new A2aStream({ ...run, upTo: undefined, endsAtWait: false, mayAllow });
  stream.start();
  const statuses = events.flatMap((event) =>
    [...stream.take(event), ...stream.pause()].flatMap((update) =>
      'statusUpdate' in update
        ? [[update.statusUpdate.status.state, update.statusUpdate.status.message?.parts ?? []]]
        : [],
    ),
  );
  const state = (name: string) => `TASK_STATE_${name}`;
  expect(statuses).toEqual([
    [state('WORKING'), []],
    [state('WORKING'), [{ text: line }]],
    [
      state('INPUT_REQUIRED'),
      [
        {
          text: `${line}\n\nThe agent asks for permission to call write. Notes are public.`,
        },
        {
          data: {
            interaction_key: 'x',
            kind: 'permission',
            tool_name: 'write',
            tool_input: { key: 'x' },
          },
        },
      ],
    ],
    [state('WORKING'), [{ text: line }]],
    [state('WORKING'), []],
  ]);
});

test('a tool of MCP says why it waits, and for whom; a form says it, too', () => {
  const state = new McpRun(run);
  for (const event of logOf(begun, asked('p', admins))) state.take(event);
  const { content } = resultOf(state.state, 'https://convoke.example/run');
  const text = content.map((part) => part.text).join('\n');
  expect(text).toContain('Notes are public. Allowing it needs a person who is admin or owner.');
  expect(text).toContain('https://convoke.example/run');
  const [ask] = state.asks;
  expect(ask && formOf(ask, '')?.message).toMatch(/Notes are public\. Allowing it needs a person/);
});
