// Agents as code with the OpenAI Agents SDK. Prints what each scenario did, as one JSON object.
import { agentTool, askUser, durableModel, sleepTool } from '@convoke/agent/openai-agents';
import { agent } from '@convoke/agent';
import { rehearse } from '@convoke/agent/test';
import {
  Agent,
  OpenAIChatCompletionsModel,
  handoff,
  run,
  setOpenAIAPI,
  setTracingDisabled,
  tool,
} from '@openai/agents';
import OpenAI from 'openai';
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

setTracingDisabled(true);
const effects = counted();

const order = z.object({ order: z.number() });
const look = tool({
  name: 'look',
  description: 'Looks at something',
  parameters: z.object({ at: z.string() }),
  execute: ({ at }) => effects.done(`look ${at}`, `saw ${at}`),
});
const shown = {
  name: 'refund',
  description: 'Refunds an order',
  parameters: order,
  execute: ({ order }) => effects.done(`refund ${order}`, { receipt: `R-${order}` }),
};
const refund = tool({ ...shown, needsApproval: true });

const conversing = (clerk) =>
  agent(async (ctx) => {
    const input = [...(ctx.state.history ?? []), { role: 'user', content: ctx.prompt }];
    const result = await run(clerk, input, { signal: ctx.signal });
    ctx.state.history = result.history;
  });
const clerk = () =>
  conversing(new Agent({ name: 'Clerk', model: 'gpt-scripted', tools: [look, refund, askUser] }));
const freely = () => {
  const free = tool({ ...shown, needsApproval: false });
  return conversing(new Agent({ name: 'Clerk', model: 'gpt-scripted', tools: [free] }));
};
const chatModel = () => {
  const client = new OpenAI();
  return new OpenAIChatCompletionsModel(client, 'scripted');
};

await scenarios(effects, {
  async responses(kill) {
    return kill(clerk, { prompt: work, answer });
  },
  async 'chat completions'(kill) {
    setOpenAIAPI('chat_completions');
    try {
      return await kill(clerk, { prompt: work, answer });
    } finally {
      setOpenAIAPI('responses');
    }
  },
  async 'a model of its own'(kill) {
    const make = () => conversing(new Agent({ name: 'Clerk', model: chatModel(), tools: [look] }));
    return kill(make, { prompt: '@@ chat && call look {"at":"a"} ;; chat' });
  },
  async 'a durable model in a streamed run'(kill) {
    const make = () =>
      agent(async (ctx) => {
        const own = new Agent({ name: 'Clerk', model: durableModel(chatModel()), tools: [look] });
        const result = await run(own, ctx.prompt, { stream: true });
        let text = '';
        for await (const part of result.toTextStream()) text += part;
        await result.completed;
        return ` streamed ${text.length > 0}`;
      });
    return kill(make, { prompt: '@@ chat && call look {"at":"a"} ;; chat' });
  },
  async nested(kill) {
    const make = () => {
      const helper = new Agent({ name: 'Helper', model: 'gpt-scripted', tools: [refund] });
      const team = helper.asTool({ toolName: 'team', toolDescription: 'Does a task' });
      return conversing(new Agent({ name: 'Clerk', model: 'gpt-scripted', tools: [team] }));
    };
    const call = (number) => `call team {"input":"${nestedTask(number)}"}`;
    return kill(make, { prompt: `@@ chat && ${call(7)} && ${call(5)} ;; last` });
  },
  async handoff(kill) {
    const make = () => {
      const bank = new Agent({ name: 'Bank', model: 'gpt-scripted', tools: [refund] });
      return conversing(
        new Agent({ name: 'Clerk', model: 'gpt-scripted', handoffs: [handoff(bank)] }),
      );
    };
    const prompt = '@@ chat && call transfer_to_Bank {} ;; chat && call refund {"order":7} ;; last';
    return kill(make, { prompt });
  },
  async mcp(kill) {
    const mail = {
      name: 'mail',
      description: 'Sends a mail',
      inputSchema: {
        type: 'object',
        properties: { to: { type: 'string' } },
        required: ['to'],
        additionalProperties: false,
      },
    };
    const post = {
      name: 'post',
      cacheToolsList: false,
      connect: async () => {},
      close: async () => {},
      invalidateToolsCache: async () => {},
      listTools: async () => [mail],
      callTool: async (_name, { to }) =>
        effects.done(`mail ${to}`, [{ type: 'text', text: 'sent' }]),
    };
    const make = () =>
      conversing(new Agent({ name: 'Clerk', model: 'gpt-scripted', mcpServers: [post] }));
    return kill(make, { prompt: '@@ chat && call mail {"to":"x"} ;; last' });
  },
  async memory() {
    const { state } = await rehearse(clerk(), { prompt: '@@ say The word is heron.' });
    return rehearse(clerk(), { prompt: '@@ probe her+on', state });
  },
  async 'a failing model'() {
    return rehearse(clerk(), { prompt: '@@ fail 400 Out of luck' });
  },
  async rules(kill) {
    return kill(freely, { prompt: ruled, answer, rules });
  },
  async 'agents of the server'(kill) {
    const research = agentTool('researcher', { description: 'Finds things out' });
    const tools = [research, sleepTool];
    return kill(
      () => conversing(new Agent({ name: 'Clerk', model: 'gpt-scripted', tools })),
      calling,
    );
  },
  async 'the operator’s list'() {
    const options = {
      approvalRequiredTools: ['*'],
      answer: () => ({ allow: false, reason: 'never' }),
    };
    return rehearse(clerk(), { prompt: '@@ call look {"at":"a"} ;; last', ...options });
  },
});
