// Agents as code with Mastra. Prints what each scenario did, as one JSON object.
import { openai } from '@ai-sdk/openai';
import { agent } from '@convoke/agent';
import {
  agentTool,
  agentTools,
  converse,
  delegate,
  durableModel,
  durableTools,
  sleepTool,
} from '@convoke/agent/mastra';
import { rehearse } from '@convoke/agent/test';
import { Agent } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';
import { z } from 'zod';
import {
  answer,
  calling,
  counted,
  nestedTask,
  ruled,
  rules,
  scenarios,
  work,
} from './scenarios.ts';

const effects = counted();
const order = z.object({ order: z.number() });
const look = createTool({
  id: 'look',
  description: 'Looks at something',
  inputSchema: z.object({ at: z.string() }),
  execute: ({ at }) => effects.done(`look ${at}`, `saw ${at}`),
});
const refundWith = (requireApproval) =>
  createTool({
    id: 'refund',
    description: 'Refunds an order',
    inputSchema: order,
    requireApproval,
    execute: ({ order }) => effects.done(`refund ${order}`, { receipt: `R-${order}` }),
  });
const refund = refundWith(true);
const asking = (question) =>
  createTool({
    id: 'ask_user',
    description: 'Asks the user',
    inputSchema: z.looseObject({}),
    suspendSchema: z.any(),
    resumeSchema: z.object({ answer: z.string() }),
    execute: async (_input, { agent: { suspend, resumeData } }) => {
      if (resumeData !== undefined) return resumeData.answer;
      effects.done('suspend');
      return suspend(question);
    },
  });

const model = () => durableModel(openai('gpt-5'));
const clerkWith = (tools) => () =>
  agent((ctx) => {
    const own = new Agent({
      id: 'clerk',
      name: 'Clerk',
      instructions: 'Help.',
      model: model(),
      tools,
    });
    return converse(ctx, ({ messages, abortSignal }) => own.stream(messages, { abortSignal }));
  });
const question = { question: 'Why?', options: ['late', 'broken'] };
const clerk = clerkWith(durableTools({ look, refund, ask_user: asking(question) }));

/** What a person is asked if a tool suspends with this value is the message. */
async function suspended(kill, value) {
  const seen = [];
  const result = await kill(clerkWith(durableTools({ ask_user: asking(value) })), {
    prompt: '@@ chat && call ask_user {} ;; last',
    answer: (asked) => {
      seen.push(asked.question);
      return 'ok';
    },
  });
  return { ...result, message: seen[0] };
}

await scenarios(effects, {
  async work(kill) {
    return kill(clerk, { prompt: work, answer });
  },
  async 'an approval that a function decides'(kill) {
    const tools = durableTools({ refund: refundWith(({ order }) => order > 5) });
    const prompt = '@@ chat && call refund {"order":4} && call refund {"order":7} ;; last';
    return kill(clerkWith(tools), { prompt, answer });
  },
  async 'an unknown value'(kill) {
    return suspended(kill, { a: [1] });
  },
  async 'no value'(kill) {
    return suspended(kill, undefined);
  },
  async nested(kill) {
    const make = () =>
      agent((ctx) => {
        const common = { instructions: 'Help.', model: model() };
        const helper = new Agent({
          id: 'h',
          name: 'H',
          ...common,
          tools: durableTools({ refund }),
        });
        const team = createTool({
          id: 'team',
          description: 'Does a task',
          inputSchema: z.object({ input: z.string() }),
          execute: async ({ input }) =>
            delegate(
              ({ messages, abortSignal }) => helper.stream(messages, { abortSignal }),
              input,
            ),
        });
        const own = new Agent({ id: 'c', name: 'C', ...common, tools: agentTools({ team }) });
        return converse(ctx, ({ messages, abortSignal }) => own.stream(messages, { abortSignal }));
      });
    const call = (number) => `call team {"input":"${nestedTask(number)}"}`;
    return kill(make, { prompt: `@@ chat && ${call(7)} && ${call(5)} ;; last` });
  },
  async memory() {
    const { state } = await rehearse(clerk(), { prompt: '@@ say The word is heron.' });
    return rehearse(clerk(), { prompt: '@@ probe her+on', state });
  },
  async 'a failing model'() {
    return rehearse(clerk(), { prompt: '@@ fail 400 Out of luck' });
  },
  async rules(kill) {
    return kill(clerkWith(durableTools({ refund: refundWith(false) })), {
      prompt: ruled,
      answer,
      rules,
    });
  },
  async 'agents of the server'(kill) {
    const research = agentTool('researcher', { description: 'Finds things out' });
    return kill(clerkWith({ call_researcher: research, sleep: sleepTool }), calling);
  },
  async 'the operator’s list'() {
    const options = {
      approvalRequiredTools: ['*'],
      answer: () => ({ allow: false, reason: 'never' }),
    };
    return rehearse(clerk(), { prompt: '@@ call look {"at":"a"} ;; last', ...options });
  },
});
