// Design of agents as code, §11.5: a run that was begun with an older kit and server continues with this one. The start
// messages in recorded/ are what a server of that version sent; a new version gets a file of its own, and none is
// removed.
import { readFileSync } from 'node:fs';
import { InDoubt, agent } from '@convoke/agent';
import { expect, test } from 'vitest';
import { bodyOf } from '../src/agent.ts';
import { Leg } from '../src/leg.ts';
import type { KitMessage, StartMessage } from '../src/lines.ts';
import { perform } from '../src/perform.ts';

/** The program whose run was recorded. It must not change. */
const clerk = agent<{ runs?: number }>(async (ctx) => {
  ctx.say('Looking. ');
  const order = await ctx.step('find', () => ({ id: 7 }), { repeatable: true });
  const why = await ctx.ask('Why?', { options: ['late'] });
  ctx.say(`Since ${why}: `);
  const refund = await ctx.approve(
    'refund',
    { order: order.id },
    ({ input }) => `r-${input.order}`,
  );
  ctx.usage({ inputTokens: 2, outputTokens: 3 });
  try {
    await ctx.scope('parcel', () => ctx.step('pack', () => 'packed'));
  } catch (error) {
    if (!(error instanceof InDoubt)) throw error;
    ctx.say('(packed?) ');
  }
  ctx.state.runs = (ctx.state.runs ?? 0) + 1;
  return `${refund.allowed ? refund.value : 'no'}, run ${ctx.state.runs}.`;
});

interface Recorded {
  readonly what: string;
  readonly start: StartMessage;
  readonly expected: object;
}

const recorded = JSON.parse(
  readFileSync(new URL('recorded/0.1.0.json', import.meta.url), 'utf8'),
) as readonly Recorded[];

test.each(recorded.map((each) => [each.what, each] as const))(
  'a run of 0.1.0 continues %s',
  async (_what, { start, expected }) => {
    expect(await heardOf(start)).toEqual(expected);
  },
);

/** Executes a leg, and lets every step begin. */
async function heardOf(start: StartMessage) {
  const lines: KitMessage[] = [];
  const leg = new Leg({
    start,
    send(line) {
      lines.push(line);
      if (line.type !== 'call_begin') return;
      const { call_id } = line;
      queueMicrotask(() => leg.receive({ type: 'call_begun', call_id, idempotency_key: 'key' }));
    },
  });
  const body = bodyOf(clerk);
  await leg.run(() => body && perform(leg, body));
  const end = lines.at(-1);
  return {
    text: lines.map((line) => (line.type === 'message_delta' ? line.text : '')).join(''),
    begun: lines.flatMap((line) => (line.type === 'call_begin' ? [line.call_id] : [])),
    asked: lines.flatMap((line) =>
      line.type === 'user_question' || line.type === 'permission_request' ? [line.ref] : [],
    ),
    reported: lines.filter(({ type }) => type === 'usage').length,
    end: end?.type === 'end' ? { outcome: end.outcome, state: end.state ?? null } : null,
  };
}
