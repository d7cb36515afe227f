// An agent as code that does everything at which a worker can be lost: it appends each effect to a file.
import { appendFileSync } from 'node:fs';
import { InDoubt, agent } from '@convoke/agent';

export default agent<{ runs?: number }>(async (ctx) => {
  const note = (line: string) => appendFileSync('effects.txt', `${line}\n`);
  ctx.say('Looking. ');
  const order = await ctx.step('find', () => ({ id: 7 }), { repeatable: true });
  await ctx.stream('think', async function* () {
    yield 'I ';
    yield 'think. ';
  });
  const why = await ctx.ask('Why?', { options: ['late'] });
  ctx.say(`Since ${why}: `);
  try {
    const refund = await ctx.approve('refund', { order: order.id }, ({ input }) => {
      note(`refund ${input.order}`);
      return 'r-1';
    });
    ctx.say(refund.allowed ? `${refund.value}. ` : 'no. ');
    ctx.usage({ inputTokens: 2, outputTokens: 3 });
    await ctx.step('mail', () => {
      ctx.say('Mailing. ');
      note('mail');
    });
  } catch (error) {
    if (!(error instanceof InDoubt)) throw error;
    ctx.say(`In doubt: ${error.step}. `);
  }
  ctx.state.runs = (ctx.state.runs ?? 0) + 1;
  return `Run ${ctx.state.runs}.`;
});
