// The message of a history has the parts that the library builds from the same chunks.
import { expect, test } from 'vitest';
import { type UiChunk, type UiPart, applyChunk, assistantMessage } from '../src/index.ts';
import { began, completed, question, read, readResult, resolved } from './stories.ts';
import { logOf, permission, said, shownThenAsked } from './written-events.ts';

const run = { sessionId: 'sess_1', runId: 'run_1' };
const call = { type: 'dynamic-tool', toolName: 'Write', toolCallId: 'toolu_1' } as const;
const written = { ...call, input: { path: 'a' }, providerExecuted: true } as const;

test.each([
  [
    'a denial with a reason',
    resolved({ decision: 'deny', message: 'no' }),
    {
      ...written,
      state: 'output-denied',
      approval: { id: 'key_1', approved: false, reason: 'no' },
    },
  ],
  [
    'a denial without one',
    resolved({ decision: 'deny' }),
    { ...written, state: 'output-denied', approval: { id: 'key_1', approved: false } },
  ],
  [
    'an allow whose call still runs',
    resolved({ decision: 'allow' }),
    { ...written, state: 'approval-responded', approval: { id: 'key_1', approved: true } },
  ],
])('the part of %s is exact', (_what, answer, part) => {
  const { parts } = assistantMessage(run, logOf(...shownThenAsked, answer));
  expect(parts.at(-1)).toStrictEqual(part);
});

test('a page answers questions itself, and the server carries calls out', () => {
  const { parts } = assistantMessage(run, logOf(began, read, readResult, question));
  expect(parts).toStrictEqual([
    { type: 'step-start' },
    {
      type: 'dynamic-tool',
      toolName: 'Read',
      toolCallId: 'c',
      state: 'output-available',
      input: { path: 'a' },
      providerExecuted: true,
      output: 'text',
    },
    { type: 'step-start' },
    {
      type: 'dynamic-tool',
      toolName: 'ask_user',
      toolCallId: 'q',
      state: 'input-available',
      input: { question: 'Which?' },
    },
  ]);
});

const spoken: UiPart = { type: 'text', text: 'a' };
const tool: UiPart = { ...call, state: 'input-available', input: {} };

test.each<readonly [UiChunk, UiPart[]]>([
  [{ type: 'text-delta', id: 't', delta: 'x' }, [tool]],
  [{ type: 'text-end', id: 't' }, [tool]],
  [{ type: 'tool-output-denied', toolCallId: 'other' }, [spoken, tool]],
  [{ type: 'tool-approval-response', approvalId: 'other', approved: true }, [spoken, tool]],
  [{ type: 'abort' }, [spoken, tool]],
])('%o is about none of the parts, and changes nothing', (chunk, parts) => {
  const before = structuredClone(parts);
  expect([applyChunk(parts, chunk), parts]).toEqual([false, before]);
});

test('a chunk that is about a part says so, and takes back only its own step', () => {
  const parts: UiPart[] = [];
  const log = logOf(began, said('a'), ['permission_request', permission], completed);
  const { parts: known } = assistantMessage(run, log.slice(0, 3));
  expect(applyChunk(parts, { type: 'reset-step' })).toBe(true);
  parts.push(...structuredClone(known));
  expect(applyChunk(parts, { type: 'tool-output-denied', toolCallId: 'toolu_1' })).toBe(true);
  expect(parts.at(-1)).toMatchObject({ state: 'output-denied' });
  expect(applyChunk(parts, { type: 'reset-step' })).toBe(true);
  expect(parts).toEqual(known.slice(0, -1));
});

const begun = (toolCallId: string): UiChunk => ({
  type: 'tool-input-available',
  toolCallId,
  toolName: 'Write',
  input: {},
  dynamic: true,
});
const asked = (toolCallId: string): UiChunk => ({
  type: 'tool-approval-request',
  toolCallId,
  approvalId: `key_${toolCallId}`,
});
const part = (toolCallId: string, more: object) => ({
  type: 'dynamic-tool',
  toolName: 'Write',
  toolCallId,
  input: {},
  ...more,
});

test.each<readonly [string, readonly UiChunk[], readonly object[]]>([
  [
    'text in pieces',
    [
      { type: 'text-start', id: 't' },
      { type: 'text-delta', id: 't', delta: 'a' },
      { type: 'text-delta', id: 't', delta: 'b' },
      { type: 'text-end', id: 't' },
    ],
    [{ type: 'text', text: 'ab', state: 'done' }],
  ],
  [
    'thoughts behind text, which is not finished',
    [
      { type: 'text-start', id: 't' },
      { type: 'reasoning-start', id: 'r' },
      { type: 'reasoning-delta', id: 'r', delta: 'a' },
      { type: 'reasoning-end', id: 'r' },
    ],
    [
      { type: 'text', text: '', state: 'streaming' },
      { type: 'reasoning', id: 'r', text: 'a', state: 'done' },
    ],
  ],
  [
    'text before a call, which continues',
    [{ type: 'text-start', id: 't' }, begun('a'), { type: 'text-delta', id: 't', delta: 'a' }],
    [{ type: 'text', text: 'a', state: 'streaming' }, part('a', { state: 'input-available' })],
  ],
  [
    'an output',
    [{ type: 'data-output', id: 'output', data: 3 }],
    [{ type: 'data-output', id: 'output', data: 3 }],
  ],
  [
    'calls that failed and were asked about',
    [
      begun('a'),
      begun('b'),
      { type: 'tool-output-error', toolCallId: 'a', dynamic: true, errorText: 'no' },
      asked('b'),
    ],
    [
      part('a', { state: 'output-error', errorText: 'no' }),
      part('b', { state: 'approval-requested', approval: { id: 'key_b' } }),
    ],
  ],
  [
    'an answer about the first of two calls',
    [
      begun('a'),
      asked('a'),
      begun('b'),
      asked('b'),
      { type: 'tool-approval-response', approvalId: 'key_a', approved: true },
    ],
    [
      part('a', { state: 'approval-responded', approval: { id: 'key_a', approved: true } }),
      part('b', { state: 'approval-requested', approval: { id: 'key_b' } }),
    ],
  ],
])('the parts of %s are exact', (_, chunks, expected) => {
  const parts: UiPart[] = [];
  expect(chunks.map((chunk) => applyChunk(parts, chunk))).not.toContain(false);
  expect(parts).toStrictEqual(expected);
});
