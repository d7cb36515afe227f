import { frameworkTemplate } from '../framework-template.ts';

/** An agent of the OpenAI Agents SDK. */
export const openaiAgents = frameworkTemplate({
  dependencies: { '@openai/agents': '0.20.0', zod: '4.6.7' },
  agent: `import { askUser } from '@convoke/agent/openai-agents';
import { agent } from '@convoke/agent';
import { Agent, run, tool } from '@openai/agents';
import { z } from 'zod';

const refund = tool({
  name: 'refund',
  description: 'Refunds an order',
  parameters: z.object({ order: z.number() }),
  needsApproval: true,
  execute: ({ order }) => ({ receipt: \`R-\${order}\` }),
});
const clerk = new Agent({
  name: 'Clerk',
  instructions: 'Help with orders.',
  model: 'gpt-5',
  tools: [refund, askUser],
});

export default agent<{ history?: object[] }>(async (ctx) => {
  const input = [...(ctx.state.history ?? []), { role: 'user', content: ctx.prompt }];
  const result = await run(clerk, input, { signal: ctx.signal });
  ctx.state.history = result.history;
});
`,
});
