import { frameworkTemplate } from '../framework-template.ts';

/** A graph of LangGraph. */
export const langgraph = frameworkTemplate({
  dependencies: {
    '@langchain/core': '1.2.13',
    '@langchain/langgraph': '1.4.18',
    '@langchain/openai': '1.6.0',
    zod: '4.6.7',
  },
  overrides: { '@langchain/langgraph-sdk': '1.12.3' },
  agent: `import { agent } from '@convoke/agent';
import { durableTools, runGraph } from '@convoke/agent/langgraph';
import { tool } from '@langchain/core/tools';
import { MessagesAnnotation, START, StateGraph, interrupt } from '@langchain/langgraph';
import { ToolNode, toolsCondition } from '@langchain/langgraph/prebuilt';
import { ChatOpenAI } from '@langchain/openai';
import { z } from 'zod';

const refund = tool(({ order }) => \`R-\${order}\`, {
  name: 'refund',
  description: 'Refunds an order',
  schema: z.object({ order: z.number() }),
});
const tools = durableTools([refund]);
const model = new ChatOpenAI({ model: 'gpt-5' }).bindTools(tools);
const graph = new StateGraph(MessagesAnnotation)
  .addNode('ask', ({ messages }) => {
    const why = interrupt('Why is it refunded?');
    return { messages: [{ role: 'user', content: \`\${messages.at(-1)?.text} Reason: \${why}\` }] };
  })
  .addNode('model', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
  .addNode('tools', new ToolNode(tools))
  .addEdge(START, 'ask')
  .addEdge('ask', 'model')
  .addConditionalEdges('model', toolsCondition)
  .addEdge('tools', 'model');

export default agent((ctx) =>
  runGraph(ctx, (checkpointer) => graph.compile({ checkpointer }), {
    messages: [{ role: 'user', content: ctx.prompt }],
  }),
);
`,
});
