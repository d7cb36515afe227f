import { frameworkTemplate } from '../framework-template.ts';

/** An agent of Mastra. */
export const mastra = frameworkTemplate({
  dependencies: { '@ai-sdk/openai': '4.0.115', '@mastra/core': '1.71.0', zod: '4.6.7' },
  agent: `import { openai } from '@ai-sdk/openai';
import { agent } from '@convoke/agent';
import { converse, durableModel, durableTools } from '@convoke/agent/mastra';
import { Agent } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';
import { z } from 'zod';

const refund = createTool({
  id: 'refund',
  description: 'Refunds an order',
  inputSchema: z.object({ order: z.number() }),
  requireApproval: true,
  execute: async ({ order }) => ({ receipt: \`R-\${order}\` }),
});
const ask = createTool({
  id: 'ask_user',
  description: 'Asks the user a question',
  inputSchema: z.object({ question: z.string() }),
  suspendSchema: z.object({ question: z.string() }),
  resumeSchema: z.object({ answer: z.string().optional() }),
  execute: async ({ question }, { agent: run }) =>
    run?.resumeData === undefined ? run?.suspend({ question }) : run.resumeData.answer,
});
const clerk = new Agent({
  id: 'clerk',
  name: 'Clerk',
  instructions: 'Help with orders.',
  model: durableModel(openai('gpt-5')),
  tools: durableTools({ refund, ask_user: ask }),
});

export default agent((ctx) =>
  converse(ctx, ({ messages, abortSignal }) => clerk.stream(messages, { abortSignal })),
);
`,
});
