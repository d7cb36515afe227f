// Agents as code with the AI SDK, against the model server, which says other words and another number of them each time.
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { type Agent, agent } from '@convoke/agent';
import {
  agentTools,
  askUser,
  converse,
  delegate,
  durableModel,
  durableTools,
} from '@convoke/agent/ai-sdk';
import { type KillOptions, everyKill, rehearse } from '@convoke/agent/test';
import { ToolLoopAgent, generateText, streamText, tool } from 'ai';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { wholeAnswers } from '../../support/model-server/script.ts';
import { startModelServer } from '../../support/model-server/server.ts';

globalThis.AI_SDK_LOG_WARNINGS = false;
const server = await startModelServer();
afterAll(() => server.close());

const connection = { baseURL: `${server.url}/v1`, apiKey: 'key' };
const models = {
  chat: () => createOpenAICompatible({ name: 'test', ...connection })('scripted'),
  responses: () => createOpenAI(connection).responses('gpt-scripted'),
};

/** What the tools did, with their inputs. */
let done: string[] = [];
beforeEach(() => {
  done = [];
});

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

const clerk = (kind: keyof typeof models = 'chat') =>
  agent((ctx) => {
    const tools = { ...durableTools({ look, refund }), ask_user: askUser };
    const model = durableModel(models[kind]());
    const own = new ToolLoopAgent({ model, tools, toolApproval: { refund: 'user-approval' } });
    return converse(ctx, (call) => own.stream(call));
  });

const work =
  '@@ chat && call look {"at":"a"} && call look {"at":"b"} && call refund {"order":7} && call refund {"order":8} ;; chat && call ask_user {"question":"Why?","options":["late","broken"]} ;; chat && last';
const answer: KillOptions['answer'] = (asked) => {
  if (asked.kind === 'question') return 'late';
  const { order } = asked.input as { order: number };
  return order === 7
    ? { allow: true, input: { order: 9 } }
    : { allow: false, reason: 'not this one' };
};
/** Ids of answers differ from one request to the next, as their words do. */
const comparable = (text: string) => wholeAnswers(text).replaceAll(/msg_\w+/g, 'msg');

test('text, parallel tools, approvals and questions survive a loss at every moment', async () => {
  const result = await everyKill(() => clerk(), { prompt: work, answer, comparable });
  expect(result).toMatchObject({ outcome: 'completed', tokens: 330 });
  expect(wholeAnswers(result.text)).toBe('[whole][whole][whole]tool said: late');
  const names = result.calls.map(({ name }) => name).toSorted((a, b) => a.localeCompare(b));
  expect(names).toEqual(['look', 'look', 'model', 'model', 'model', 'refund']);
  expect(new Set(done)).toEqual(new Set(['look a', 'look b', 'refund 9']));
}, 300_000);

test('so does a conversation whose answers have ids, as those of the responses API have', async () => {
  const prompt = '@@ chat && call refund {"order":7} ;; chat && last';
  const result = await everyKill(() => clerk('responses'), { prompt, answer, comparable });
  expect(wholeAnswers(result.text)).toBe('[whole][whole]tool said: {"receipt":"R-9"}');
}, 300_000);

test('the model is told the approved input and the reason of a denial', async () => {
  const { state } = await rehearse(clerk(), { prompt: work, answer });
  const text = JSON.stringify(state);
  expect(text).toContain('"input":{"order":9}');
  expect(text).toContain('R-9');
  expect(text).toContain('not this one');
});

test('the next run of the session has the conversation', async () => {
  const { state } = await rehearse(clerk(), { prompt: '@@ say The word is heron.' });
  const next = await rehearse(clerk(), { prompt: '@@ probe her+on', state });
  expect(next.text).toBe('heron: yes');
});

test('agents inside an agent ask for their own approvals, and are not heard', async () => {
  const nested = '@@ chat \\u0026\\u0026 call refund {\\"order\\":7} \\u003b\\u003b last';
  const other = nested.replace('7', '5');
  const prompt = `@@ chat && call team {"task":"${nested}"} && call team {"task":"${other}"} ;; last`;
  const make = (): Agent =>
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
  const result = await everyKill(make, { prompt, comparable });
  expect(wholeAnswers(result.text)).toBe(
    '[whole]tool said: tool said: {"receipt":"R-7"} | tool said: {"receipt":"R-5"}',
  );
  expect(result.asked).toHaveLength(2);
  expect(new Set(done)).toEqual(new Set(['refund 7', 'refund 5']));
}, 300_000);

test('an answer that is not streamed is stored, too, and not said', async () => {
  const make = () =>
    agent(async (ctx) => {
      const model = durableModel(models.responses());
      const { text } = await generateText({ model, prompt: '@@ chat' });
      const { text: again } = await generateText({ model, prompt: '@@ chat' });
      await ctx.step('effect', () => undefined);
      return wholeAnswers(`${text}${again}`);
    });
  const { text, tokens } = await everyKill(make);
  expect([text, tokens]).toEqual(['[whole][whole]', 220]);
}, 60_000);

test('the operator’s list holds for tools, and does not name the model', async () => {
  const { text, asked } = await rehearse(clerk(), {
    prompt: '@@ call look {"at":"a"} ;; last',
    approvalRequiredTools: ['*'],
    answer: () => ({ allow: false, reason: 'never' }),
  });
  expect(asked).toEqual([{ kind: 'permission', tool: 'look', input: { at: 'a' } }]);
  expect([text, done]).toEqual(['tool said: Denied: never', []]);
});

test('a model that fails ends the run with what its provider said', async () => {
  const result = await rehearse(clerk(), { prompt: '@@ fail 400 Out of luck' });
  expect(result).toMatchObject({ outcome: 'error', message: 'Out of luck' });
});

test('a request that may be sent again is, inside its step', async () => {
  const make = () =>
    agent((ctx) => {
      let requests = 0;
      const model = models.chat();
      const doStream = model.doStream.bind(model);
      model.doStream = (options) => {
        requests += 1;
        if (requests === 1) throw Object.assign(new Error('busy'), { isRetryable: true });
        return doStream(options);
      };
      const durable = durableModel(model);
      return converse(ctx, (call) => streamText({ ...call, model: durable }));
    });
  expect((await rehearse(make(), { prompt: '@@ say Here.' })).text).toBe('Here.');
});

test('a result that cannot be stored ends the run, instead of being told to the model', async () => {
  const large = tool({ inputSchema: z.object({}), execute: () => 'x'.repeat(300 * 1024) });
  const make = agent((ctx) => {
    const model = durableModel(models.chat());
    const tools = durableTools({ large });
    return converse(ctx, (call) => streamText({ ...call, model, tools }));
  });
  const result = await rehearse(make, { prompt: '@@ call large {} ;; say Fine.' });
  expect(result.message).toMatch(/^step "large" returned 301 KiB; the limit is 256 KiB/);
});

test('a tool that returns nothing has been carried out all the same', async () => {
  const mail = tool({ inputSchema: z.object({}), execute: () => void done.push('mail') });
  const make = () =>
    agent((ctx) => {
      const model = durableModel(models.chat());
      const tools = durableTools({ mail });
      return converse(ctx, (call) => streamText({ ...call, model, tools, stopWhen: () => false }));
    });
  const result = await everyKill(make, { prompt: '@@ call mail {} ;; say Sent.', comparable });
  const messages = JSON.stringify(result.state);
  expect([result.text, done[0]]).toEqual(['Sent.', 'mail']);
  expect(messages).not.toContain('error');
}, 60_000);
