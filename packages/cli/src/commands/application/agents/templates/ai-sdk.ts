import { frameworkTemplate } from '../framework-template.ts';

/** An agent of the AI SDK. */
export const aiSdk = frameworkTemplate({
  dependencies: { '@ai-sdk/openai': '4.0.111', ai: '7.0.165', zod: '4.6.7' },
  agent: `import { openai } from '@ai-sdk/openai';
import { agent } from '@convoke/agent';
import { askUser, converse, durableModel, durableTools } from '@convoke/agent/ai-sdk';
import { ToolLoopAgent, tool } from 'ai';
import { z } from 'zod';

const refund = tool({
  description: 'Refunds an order',
  inputSchema: z.object({ order: z.number() }),
  execute: ({ order }) => ({ receipt: \`R-\${order}\` }),
});
const clerk = new ToolLoopAgent({
  model: durableModel(openai('gpt-5')),
  instructions: 'Help with orders.',
  tools: { ...durableTools({ refund }), ask_user: askUser },
  toolApproval: { refund: 'user-approval' },
});

export default agent((ctx) => converse(ctx, (call) => clerk.stream(call)));
`,
});
