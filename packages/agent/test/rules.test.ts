// What rules mean to a program: its steps begin, wait for a person, or are denied (D-507, D-510, D-511).
import { type Context, Denied, agent } from '@convoke/agent';
import { type RehearsalOptions, everyKill, rehearse } from '@convoke/agent/test';
import { expect, test } from 'vitest';
import { current } from '../src/current.ts';
import { Leg } from '../src/leg.ts';
import type { KitMessage, ServerMessage, StartMessage } from '../src/lines.ts';
import { perform } from '../src/perform.ts';
import { bodyOf } from '../src/agent.ts';

const asked = (tools: string[]): RehearsalOptions => ({
  rules: [{ name: 'ask', tools, effect: 'ask' }],
});

test('a denial that the program does not catch ends the run with the words of the rule', async () => {
  const program = agent(async (ctx) => void (await ctx.step('drop', () => 1)));
  const rules = [{ name: 'no', tools: ['drop'], effect: 'deny', reason: 'Never.' }] as const;
  expect(await rehearse(program, { rules })).toMatchObject({
    outcome: 'error',
    message: 'step "drop": Not allowed by the rule no of the agent: Never.',
    calls: [],
    asked: [],
  });
});

test('a person who denies without a word leaves no reason', async () => {
  const program = agent(async (ctx) => {
    try {
      await ctx.step('pay', () => 1);
    } catch (error) {
      if (!(error instanceof Denied)) throw error;
      return JSON.stringify({ step: error.step, message: error.message, reason: error.reason });
    }
  });
  const { text } = await rehearse(program, { ...asked(['pay']), answer: () => false });
  expect(JSON.parse(text)).toEqual({ step: 'pay', message: 'not allowed' });
});

test('other branches continue while a step waits for a person', async () => {
  const make = () =>
    agent(async (ctx) => {
      const branch = async () => {
        const one = await ctx.step('one', () => 1, { repeatable: true });
        return one + (await ctx.step('two', () => 2, { repeatable: true }));
      };
      const [sum, paid] = await Promise.all([branch(), ctx.step('pay', () => 'paid')]);
      return `${sum} ${paid}`;
    });
  const result = await everyKill(make, asked(['pay']));
  expect([result.text, result.asked.length]).toEqual(['3 paid', 1]);
});

test('a request to a model passes no rule, whatever the rules name (D-509)', async () => {
  const program = agent(async () => {
    const { steps } = current();
    return (await steps.request({ model: 'm', shape: [] }, () => 'said')) as string;
  });
  const rules = [{ name: 'all', tools: ['*'], effect: 'deny' }] as const;
  expect((await rehearse(program, { rules })).text).toBe('said');
});

const start: StartMessage = {
  type: 'start',
  run_id: 'run_1',
  session_id: 'sess_1',
  run_number: 1,
  input: { kind: 'prompt', prompt: 'go' },
  run_input: { prompt: 'go' },
  state: null,
  workspace: '.',
  agent_folder: '.',
  agent: { approval_required_tools: ['*'] },
};

/** Runs one leg of a program, whose calls are answered so. Returns what it said without its checkpoints. */
async function heardOf(
  body: (ctx: Context) => Promise<unknown>,
  answer: (call: string) => ServerMessage,
  input: StartMessage['input'] = start.input,
) {
  const lines: KitMessage[] = [];
  const leg = new Leg({
    start: { ...start, input },
    send(line) {
      if (line.type !== 'checkpoint') lines.push(line);
      if (line.type === 'call_begin') setImmediate(() => leg.receive(answer(line.call_id)));
    },
  });
  const program = bodyOf(agent(async (ctx) => String(await body(ctx))));
  await leg.run(() => program && perform(leg, program));
  return lines;
}

const begun = (call_id: string): ServerMessage => ({
  type: 'call_begun',
  call_id,
  idempotency_key: 'key',
});
const refused = (call_id: string): ServerMessage => ({
  type: 'call_refused',
  call_id,
  effect: 'ask',
});

test('the server decides: the list in the start message alone asks nobody', async () => {
  const lines = await heardOf((ctx) => ctx.step('pay', () => 'paid'), begun);
  expect(lines.map(({ type }) => type)).toEqual(['call_begin', 'call_end', 'message_delta', 'end']);
});

const allowed = { kind: 'permission', allow: true, input: { amount: 4 } } as const;
const pay = (ctx: Context) =>
  ctx.step('pay', ({ input }) => JSON.stringify(input), { input: { amount: 5 } });

test('a step that a person has allowed begins with the input that was approved', async () => {
  const input = { kind: 'continue', prompt: 'go', answers: { pay: allowed } } as const;
  const lines = await heardOf(pay, begun, input);
  expect(lines[0]).toMatchObject({ type: 'call_begin', call_id: 'pay', tool_input: { amount: 4 } });
  expect(lines[2]).toEqual({ type: 'message_delta', text: '{"amount":4}' });
});

test('so does one that is to be carried out again, if a person was asked about that', async () => {
  const calls = { pay: { state: 'again', input: { amount: 5 } } } as const;
  const input = { kind: 'continue', prompt: 'go', answers: { pay: allowed }, calls } as const;
  const [first] = await heardOf(pay, begun, input);
  expect(first).toMatchObject({ type: 'call_begin', tool_input: { amount: 4 } });
});

test('a permission that another call has used up is asked for once more, under a ref of its own', async () => {
  const answers = { pay: allowed };
  const again = await heardOf(pay, refused, { kind: 'continue', prompt: 'go', answers });
  expect(again.map(({ type }) => type)).toEqual(['call_begin', 'permission_request', 'end']);
  const [, request] = again;
  const ref = request?.type === 'permission_request' ? request.ref : '';
  expect([ref === 'pay', ref.startsWith('pay')]).toEqual([false, true]);
  const denied = { kind: 'permission', allow: false, reason: 'no' } as const;
  const both = { ...answers, [ref]: denied };
  const lines = await heardOf(pay, begun, { kind: 'continue', prompt: 'go', answers: both });
  expect(lines).toMatchObject([{ type: 'end', message: 'step "pay": no' }]);
});
