import { readFileSync, readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { readRules } from '../../../src/domain/rules/rule.ts';
import type { Answer } from '../../../src/ports/harness.ts';
import { eventually } from '../../support/eventually.ts';
import { allowing, denying } from '../sittings.ts';
import type { Step } from './agent.ts';
import { steps, useAcpAgent } from './use-acp-agent.ts';

const { sit } = useAcpAgent();

describe('an ACP agent', () => {
  test('streams its text with framework and model, and emits plans, thoughts and calls', async () => {
    const { sitting } = await sit({ agent: { model: 'test/one' } });
    const said = await sitting.say(
      steps(
        { think: 'hm' },
        { plan: 'first' },
        { say: 'Hello ' },
        { call: 'made.txt' },
        { say: 'you' },
      ),
    );
    expect(said.text).toBe('Hello you');
    expect(said.end).toMatchObject({ outcome: 'completed' });
    expect(said.events).toContainEqual({
      type: 'message_delta',
      text: 'Hello ',
      model: 'test/one',
    });
    expect(said.custom('agent_thought_chunk')).toEqual([{ text: 'hm' }]);
    expect(said.custom('plan')).toMatchObject([{ entries: [{ content: 'first' }] }]);
    expect(said.custom('tool_call')).toMatchObject([
      { tool_call_id: 'made.txt', kind: 'execute', status: 'in_progress' },
      { tool_call_id: 'made.txt', kind: 'execute', status: 'completed' },
    ]);
  });

  test('is charged in each leg what it says that its session cost more (D-131)', async () => {
    const { sitting } = await sit({});
    const usd = (amount: number) => ({ cost: { amount, currency: 'USD' } });
    const reports = async (...actions: Step[]) => {
      const { events } = await sitting.say(steps(...actions));
      return events.flatMap((event) =>
        event.type === 'usage' ? [[event.inputTokens, event.cost?.micros]] : [],
      );
    };
    const first = await reports(usd(0.25), usd(0.25), { ...usd(0.5), tokens: 7 });
    expect(first).toEqual([
      [0, 250_000],
      [0, 500_000],
      [7, 500_000],
    ]);
    expect(await reports(usd(0.75))).toEqual([[0, 250_000]]);
    expect(await reports({ say: 'nothing new' }, usd(0.75))).toEqual([]);
    // It counts from zero again.
    expect(await reports(usd(0.125))).toEqual([[0, 125_000]]);
    const credits = { cost: { amount: 3, currency: 'credits' } };
    expect(await reports(credits)).toEqual([]);
  });

  test('is allowed a call that needs no approval, for that call only', async () => {
    const { sitting, made } = await sit({});
    const said = await sitting.say(steps({ call: 'made.txt', kind: 'edit' }));
    expect(said.asked).toEqual([]);
    expect(await made('made.txt')).toBe('yes-once');
  });

  test('makes a call that a person allowed, once, and none that a person refused (D-39)', async () => {
    const { sitting, made } = await sit({ agent: { approvalRequiredTools: ['exec*'] } });
    const said = await sitting.say(
      steps({ call: 'yes.txt' }, { call: 'no.txt' }, { call: 'free.txt', kind: 'edit' }),
      (asked) => (JSON.stringify(asked).includes('no.txt') ? denying : allowing(asked)),
    );
    expect(said.asked).toMatchObject([
      {
        toolName: 'execute',
        toolInput: { title: 'yes.txt', input: { command: 'yes.txt' } },
      },
      { toolName: 'execute', toolInput: { title: 'no.txt' } },
    ]);
    expect(said.end).toMatchObject({ outcome: 'completed' });
    expect(await made('yes.txt')).toBe('yes-once');
    expect(await made('no.txt')).toBeUndefined();
    expect(await made('free.txt')).toBe('yes-once');
  });

  test('makes no call when a person allowed another input than the one it asked for (D-39)', async () => {
    const { sitting, made } = await sit({ agent: { approvalRequiredTools: ['*'] } });
    const said = await sitting.say(steps({ call: 'other.txt' }), () => ({
      kind: 'permission',
      allow: true,
      input: { title: 'harmless' },
    }));
    expect(said.custom('tool_refused')).toMatchObject([{ tool_call_id: 'other.txt' }]);
    expect(await made('other.txt')).toBeUndefined();
  });

  test('is refused when it offers only a permanent permission', async () => {
    const { sitting, made } = await sit({ agent: { approvalRequiredTools: ['*'] } });
    const options = [
      { optionId: 'yes-forever', name: 'Always', kind: 'allow_always' as const },
      { optionId: 'no', name: 'No', kind: 'reject_once' as const },
    ];
    await sitting.say(steps({ call: 'forever.txt', options }), allowing);
    expect(await made('forever.txt')).toBeUndefined();
  });

  test('is refused a call by its whole input, also when that is too long to be kept (D-507)', async () => {
    const when = [{ path: '/input/force', present: true }];
    const rules = readRules([{ name: 'no-force', tools: ['execute'], effect: 'deny', when }]);
    const { sitting, made } = await sit({ agent: { rules } });
    const text = 'x'.repeat(256 * 1024);
    const said = await sitting.say(
      steps(
        { call: 'forced.txt', input: { text, force: true } },
        { call: 'plain.txt', input: { text } },
      ),
    );
    expect(said.custom('tool_refused')).toMatchObject([
      { tool_call_id: 'forced.txt', reason: 'Not allowed by the rule no-force of the agent.' },
    ]);
    expect(await made('forced.txt')).toBeUndefined();
    expect(await made('plain.txt')).toBe('yes-once');
  });

  test('gets a permanent permission only for a tool that no rule names (D-507)', async () => {
    const options = [
      { optionId: 'yes-forever', name: 'Always', kind: 'allow_always' as const },
      { optionId: 'no', name: 'No', kind: 'reject_once' as const },
    ];
    const free = await sit({});
    await free.sitting.say(steps({ call: 'free.txt', options }));
    expect(await free.made('free.txt')).toBe('yes-forever');
    // Its condition does not hold for this call. With a permanent permission the next one would not be asked about.
    const when = [{ path: '/title', eq: 'other.txt' }];
    const rules = readRules([{ name: 'other', tools: ['execute'], effect: 'deny', when }]);
    const named = await sit({ agent: { rules } });
    const said = await named.sitting.say(steps({ call: 'named.txt', options }));
    expect(said.custom('tool_refused')).toMatchObject([{ tool_call_id: 'named.txt' }]);
    expect(await named.made('named.txt')).toBeUndefined();
    await named.sitting.say(steps({ call: 'once.txt' }));
    expect(await named.made('once.txt')).toBe('yes-once');
  });

  test('may not use a tool that is not in its list', async () => {
    const { sitting, made } = await sit({ settings: { tools: ['read'] } });
    const said = await sitting.say(steps({ call: 'tool.txt' }));
    expect(said.custom('tool_refused')).toMatchObject([{ kind: 'execute' }]);
    expect(await made('tool.txt')).toBeUndefined();
  });

  test('is stopped when it makes a call that needs approval without asking', async () => {
    const { sitting } = await sit({ agent: { approvalRequiredTools: ['execute'] } });
    const said = await sitting.say(steps({ sneak: 'sneaked.txt' }, { hang: 'deaf' }));
    expect(said.end).toMatchObject({ outcome: 'error', code: 'agent_error' });
    expect(JSON.stringify(said.end)).toContain('without asking');
  });

  test('is stopped for a call made without asking only where a rule about its input does not allow it', async () => {
    const when = [{ path: '/title', like: 'secret*' }];
    const rules = readRules([{ name: 'secrets', tools: ['execute'], effect: 'deny', when }]);
    const { sitting } = await sit({ agent: { rules } });
    const fine = await sitting.say(steps({ sneak: 'fine.txt' }));
    expect(fine.end).toMatchObject({ outcome: 'completed' });
    const said = await sitting.say(steps({ sneak: 'secret.txt' }, { hang: 'deaf' }));
    expect(said.end).toMatchObject({ outcome: 'error', code: 'agent_error' });
    expect(JSON.stringify(said.end)).toContain('secret.txt');
  });

  test('is stopped when it uses a tool that is not in its list without asking', async () => {
    const { sitting } = await sit({ settings: { tools: ['read', 'edit'] } });
    const fine = await sitting.say(steps({ sneak: 'fine.txt', kind: 'edit' }));
    expect(fine.end).toMatchObject({ outcome: 'completed' });
    const said = await sitting.say(steps({ sneak: 'sneaked.txt' }, { hang: 'deaf' }));
    expect(said.end).toMatchObject({ outcome: 'error', code: 'agent_error' });
    expect(JSON.stringify(said.end)).toContain('not among its tools');
  });

  test('completes its run when a refusal ends its turn, since the run was not cancelled', async () => {
    const { sitting } = await sit({
      flags: ['--fussy'],
      agent: { approvalRequiredTools: ['execute'] },
    });
    const said = await sitting.say(steps({ call: 'no.txt' }, { say: 'never' }), () => denying);
    expect(said.end).toMatchObject({ outcome: 'completed' });
  });

  test('asks questions, one interaction each, and gets the answers in the form it defined', async () => {
    const { sitting } = await sit({});
    const colours = [
      { const: 'r', title: 'Red', description: 'as a rose' },
      { const: 'b', title: 'Blue' },
    ];
    const properties = {
      colour: { type: 'string', title: 'Colour', oneOf: colours },
      colour_custom: { type: 'string', title: 'Other' },
      sizes: {
        type: 'array',
        description: 'Which sizes?',
        items: { type: 'string', enum: ['S', 'M', 'L'] },
      },
      count: { type: 'integer', title: 'How many?' },
      sure: { type: 'boolean', title: 'Sure?' },
    };
    const answers: Record<string, readonly string[]> = {
      Colour: ['Blue'],
      'Which sizes?': ['S', 'L'],
      'How many?': ['3'],
      'Sure?': ['Yes'],
    };
    const said = await sitting.say(steps({ elicit: 'Order', properties }), (asked) => ({
      kind: 'question',
      values: (asked.type === 'user_question' && answers[asked.question]) || [],
    }));
    expect(said.asked).toMatchObject([
      {
        question: 'Colour',
        options: [{ label: 'Red', description: 'as a rose' }, { label: 'Blue' }],
      },
      {
        question: 'Which sizes?',
        multiple: true,
        options: [{ label: 'S' }, { label: 'M' }, { label: 'L' }],
      },
      { question: 'How many?' },
      { question: 'Sure?', options: [{ label: 'Yes' }, { label: 'No' }] },
    ]);
    expect(JSON.parse(said.text)).toEqual({
      action: 'accept',
      content: { colour: 'b', sizes: ['S', 'L'], count: 3, sure: true },
    });
  });

  test.each<[string, Answer, object]>([
    [
      'a free-text answer',
      { kind: 'question', values: ['Teal'] },
      { action: 'accept', content: { colour_custom: 'Teal' } },
    ],
    ['no answer', { kind: 'question', declined: true }, { action: 'decline' }],
  ])('accepts %s to a question', async (_, answer, response) => {
    const { sitting } = await sit({});
    const properties = {
      colour: { type: 'string', oneOf: [{ const: 'r', title: 'Red' }] },
      colour_custom: { type: 'string' },
    };
    const said = await sitting.say(steps({ elicit: 'Which?', properties }), () => answer);
    expect(said.asked).toMatchObject([{ question: 'Which?', options: [{ label: 'Red' }] }]);
    expect(JSON.parse(said.text)).toEqual(response);
  });

  test('cannot ask questions when agent.yaml disables them', async () => {
    const { sitting } = await sit({ settings: { ask_user: false } });
    const said = await sitting.say(steps({ elicit: 'Which?', properties: {} }), allowing);
    expect(said.asked).toEqual([]);
    expect(JSON.parse(said.text)).toEqual({ action: 'cancel' });
  });
});

describe('a cancelled ACP run', () => {
  test.each<[string, Step]>([
    ['working', { hang: 'listening' }],
    ['waiting for a person', { call: 'cancelled.txt' }],
  ])(
    'ends cancelled while the agent is %s, and the process serves the next run',
    async (_, step) => {
      const { sitting, made } = await sit({ agent: { approvalRequiredTools: ['execute'] } });
      const leg = sitting.start(steps({ say: 'here' }, step));
      const said = await sitting.hear(leg, {
        onEvent: (event) => {
          const isBusy =
            event.type === 'permission_request' ||
            ('hang' in step && event.type === 'message_delta');
          if (isBusy) void sitting.cancel(leg);
        },
      });
      expect(said.end).toMatchObject({ outcome: 'cancelled' });
      expect(await made('cancelled.txt')).toBeUndefined();
      const next = await sitting.say(steps({ report: 'history' }));
      expect(JSON.parse(next.text)).toHaveLength(1);
    },
  );

  test('kills an agent that ignores the cancel, with all its processes', async () => {
    const { sitting } = await sit({});
    const leg = sitting.start(steps({ child: true }, { hang: 'deaf' }));
    const said = await sitting.hear(leg, {
      onEvent: async (event) => {
        if (event.type !== 'message_delta') return;
        await sitting.cancel(leg);
        await leg.kill();
      },
    });
    expect(said.end).toMatchObject({ outcome: 'cancelled' });
    expect(await eventually(() => sleepers().length === 0)).toBe(true);
  });

  test.each([
    ['completed', { say: 'done' }],
    ['cancelled', { hang: 'listening' }],
    ['error', { fail: { code: -32_603, message: 'no' } }],
  ] as const)('ends the processes that the agent left running (%s)', async (...[outcome, last]) => {
    const { sitting } = await sit({});
    const leg = sitting.start(steps({ child: true }, last));
    const said = await sitting.hear(leg, {
      onEvent: async (event) => {
        if (event.type !== 'message_delta' || outcome !== 'cancelled') return;
        await eventually(() => sleepers().length === 1);
        await sitting.cancel(leg);
      },
    });
    expect(said.end).toMatchObject({ outcome });
    expect(sleepers()).toEqual([]);
    expect(said.custom('processes_ended')).toEqual([{ count: 1 }]);
    const next = await sitting.say(steps({ report: 'history' }));
    expect(JSON.parse(next.text)).toHaveLength(1);
  });

  test('keeps track of a process that answered the cancel with an error', async () => {
    const { sitting } = await sit({});
    const leg = sitting.start(
      steps({ say: 'on it' }, { hang: 'listening' }, { fail: { code: -32_603, message: 'oops' } }),
    );
    const said = await sitting.hear(leg, {
      onEvent: (event) => event.type === 'message_delta' && sitting.cancel(leg),
    });
    expect(said.end).toMatchObject({ outcome: 'cancelled' });
    expect(sitting.harness.kept?.()).toHaveLength(1);
  });

  test('ends at once while the agent is still starting', async () => {
    const { sitting } = await sit({ flags: ['--mute'] });
    const leg = sitting.start(steps());
    const heard = sitting.hear(leg);
    await sitting.cancel(leg);
    expect((await heard).end).toMatchObject({ outcome: 'cancelled' });
  });
});

/** Processes that the test agent left running, as the host sees them. */
function sleepers(): readonly string[] {
  return readdirSync('/proc').filter((entry) => {
    try {
      return readFileSync(`/proc/${entry}/cmdline`, 'utf8') === 'sleep\x001000.5\x00';
    } catch {
      return false;
    }
  });
}
