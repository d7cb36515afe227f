import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { InDoubt, agent } from '@convoke/agent';

const checks = {
  sender: 'The sender is known, and the account is the one that we paid last time.\n',
  amount: 'The amount is what we ordered, and the goods have arrived.\n',
  'due date': 'The invoice is due in a week, and there is money in the account.\n',
};

export default agent(async (ctx) => {
  await ctx.stream('begin', slowly(`I check ${ctx.prompt} before I pay it.\n`));
  // Each check is a step. One that has ended is not run again, and its words are not said again.
  for (const [name, words] of Object.entries(checks)) {
    await ctx.stream(`check ${name}`, slowly(words));
  }
  try {
    const input = { invoice: ctx.prompt }; // What a person sees who is asked about the payment.
    const payment = async () => {
      appendFileSync('ledger.txt', `paid ${ctx.prompt}\n`);
      await sleep(20_000); // The line is written at once; then the bank takes its time.
    };
    await ctx.step('pay', payment, { input });
  } catch (error) {
    if (!(error instanceof InDoubt)) throw error;
    // The process was lost in the step, and a person was asked: it is not to be paid again.
    ctx.say(`${error.message}\n`);
  }
  return `Done: ${ctx.prompt} is in the ledger.\n`;
});

async function* slowly(text: string) {
  for (const word of text.split(/(?<= )/)) {
    yield word;
    await sleep(250);
  }
}
