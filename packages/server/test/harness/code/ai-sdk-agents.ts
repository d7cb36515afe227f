// Agents as code with the AI SDK, and the model server, which says other words and another number of them each time.
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { type Agent, agent } from '@convoke/agent';
import {
  agentTool,
  agentTools,
  askUser,
  converse,
  delegate,
  durableModel,
  durableTools,
  sleepTool,
} from '@convoke/agent/ai-sdk';
import type { KillOptions } from '@convoke/agent/test';
import { ToolLoopAgent, streamText, tool } from 'ai';
import { z } from 'zod';
import { atFileEnd } from '../../../../../test/runner/file-end.ts';
import { wholeAnswers } from '../../support/model-server/script.ts';
import { startModelServer } from '../../support/model-server/server.ts';

globalThis.AI_SDK_LOG_WARNINGS = false;
const server = await startModelServer();
atFileEnd(() => server.close());

const connection = { baseURL: `${server.url}/v1`, apiKey: 'key' };
export const models = {
  chat: () => createOpenAICompatible({ name: 'test', ...connection })('scripted'),
  responses: () => createOpenAI(connection).responses('gpt-scripted'),
};

/** What the tools did, with their inputs. A test empties it. */
export const done: string[] = [];

const order = z.object({ order: z.number() });
const look = tool({
  inputSchema: z.object({ at: z.string() }),
  execute: ({ at }) => {
    done.push(`look ${at}`);
    return `saw ${at}`;
  },
});
const refund = tool({
  inputSchema: order,
  execute: ({ order }) => {
    done.push(`refund ${order}`);
    return { receipt: `R-${order}` };
  },
});

export const clerk = (kind: keyof typeof models = 'chat') =>
  agent((ctx) => {
    const tools = { ...durableTools({ look, refund }), ask_user: askUser };
    const model = durableModel(models[kind]());
    const own = new ToolLoopAgent({ model, tools, toolApproval: { refund: 'user-approval' } });
    return converse(ctx, (call) => own.stream(call));
  });

/** One that asks nobody on its own. */
export const freeClerk = () =>
  agent((ctx) => {
    const own = new ToolLoopAgent({
      model: durableModel(models.chat()),
      tools: durableTools({ refund }),
    });
    return converse(ctx, (call) => own.stream(call));
  });

/** Order 4 is refunded, order 5 is not, and a person decides about others. */
export const rules: NonNullable<KillOptions['rules']> = [
  { name: 'small', tools: ['refund'], when: [{ path: '/order', lt: 5 }], effect: 'allow' },
  { name: 'five', tools: ['refund'], when: [{ path: '/order', eq: 5 }], effect: 'deny' },
  { name: 'refunds', tools: ['refund'], effect: 'ask' },
];

export const work =
  '@@ chat && call look {"at":"a"} && call look {"at":"b"} && call refund {"order":7} && call refund {"order":8} ;; chat && call ask_user {"question":"Why?","options":["late","broken"]} ;; chat && last';
export const answer: NonNullable<KillOptions['answer']> = (asked) => {
  if (asked.kind === 'question') return 'late';
  const { order } = asked.input as { order: number };
  return order === 7
    ? { allow: true, input: { order: 9 } }
    : { allow: false, reason: 'not this one' };
};
/** Ids of answers differ from one request to the next, as their words do. */
export const comparable = (text: string) => wholeAnswers(text).replaceAll(/msg_\w+/g, 'msg');

const nested = '@@ chat \\u0026\\u0026 call refund {\\"order\\":7} \\u003b\\u003b last';
const other = nested.replace('7', '5');
export const teamWork = `@@ chat && call team {"task":"${nested}"} && call team {"task":"${other}"} ;; last`;

/** An agent whose tool is another agent, which asks for approvals. */
export const leader = (): Agent =>
  agent((ctx) => {
    const model = durableModel(models.chat());
    const helper = new ToolLoopAgent({
      model,
      tools: durableTools({ refund }),
      toolApproval: { refund: 'user-approval' },
    });
    const team = tool({
      inputSchema: z.object({ task: z.string() }),
      execute: ({ task }) => delegate((call) => helper.stream(call), task),
    });
    const tools = agentTools({ team });
    return converse(ctx, (call) => streamText({ ...call, model, tools, stopWhen: () => false }));
  });

/** One whose model sleeps and calls agents of the server. */
export const caller = (agentName = 'researcher'): Agent =>
  agent((ctx) => {
    const description = 'Finds things out';
    const tools = {
      [`call_${agentName}`]: agentTool(agentName, { description, timeout: '1h' }),
      sleep: sleepTool,
    };
    const model = durableModel(models.chat());
    return converse(ctx, (call) => streamText({ ...call, model, tools, stopWhen: () => false }));
  });
const calls = ['chairs', 'tables', 'lamps'].map(
  (prompt) => `call call_researcher {"prompt":"${prompt}"}`,
);
export const callWork = `@@ chat && call sleep {"for":"3d","reason":"cooling off #1"} ;; ${calls.join(' && ')} ;; last`;
export const called: NonNullable<KillOptions['called']> = ({ input: { prompt } }) =>
  prompt === 'lamps'
    ? { ok: false, code: 'model_error', message: 'The model is down.' }
    : prompt === 'tables'
      ? { ok: true, text: '', output: { legs: 4 } }
      : 'oak';
