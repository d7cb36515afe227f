// Agents as code with the AI SDK, against the model server.
import { agent } from '@convoke/agent';
import { converse, durableModel, durableTools } from '@convoke/agent/ai-sdk';
import { everyKill, rehearse } from '@convoke/agent/test';
import { generateText, streamText, tool } from 'ai';
import { beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { wholeAnswers } from '../../support/model-server/script.ts';
import {
  answer,
  callWork,
  called,
  caller,
  clerk,
  comparable,
  done,
  freeClerk,
  leader,
  models,
  rules,
  teamWork,
  work,
} from './ai-sdk-agents.ts';

beforeEach(() => {
  done.length = 0;
});

test('text, parallel tools, approvals and questions are one conversation', async () => {
  const result = await rehearse(clerk(), { prompt: work, answer });
  expect(result).toMatchObject({ outcome: 'completed', tokens: 330 });
  expect(wholeAnswers(result.text)).toBe('[whole][whole][whole]tool said: late');
  expect(new Set(done)).toEqual(new Set(['look a', 'look b', 'refund 9']));
});

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
  const result = await rehearse(leader(), { prompt: teamWork });
  expect(wholeAnswers(result.text)).toBe(
    '[whole]tool said: tool said: {"receipt":"R-7"} | tool said: {"receipt":"R-5"}',
  );
  expect(result.asked).toHaveLength(2);
  expect(new Set(done)).toEqual(new Set(['refund 7', 'refund 5']));
});

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
});

test('the operator’s list holds for tools, and does not name the model', async () => {
  const { text, asked } = await rehearse(clerk(), {
    prompt: '@@ call look {"at":"a"} ;; last',
    approvalRequiredTools: ['*'],
    answer: () => ({ allow: false, reason: 'never' }),
  });
  expect(asked).toEqual([{ kind: 'permission', tool: 'look', input: { at: 'a' } }]);
  expect([text, done]).toEqual(['tool said: Denied: never', []]);
});

test('the model is told what a rule denies, and a person is asked about the rest', async () => {
  const orders = [4, 5, 7, 8].map((order) => `call refund {"order":${order}}`);
  const result = await rehearse(freeClerk(), {
    prompt: `@@ ${orders.join(' && ')} ;; last`,
    answer,
    rules,
  });
  expect(result.text).toBe(
    'tool said: {"receipt":"R-4"} | Denied: Not allowed by the rule five of the agent. | {"receipt":"R-9"} | Denied: not this one',
  );
  expect([result.asked.length, done]).toEqual([2, ['refund 4', 'refund 9']]);
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

test('a tool that returns nothing has been carried out anyway', async () => {
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
});

test('a model sleeps and calls agents of the server, side by side', async () => {
  const takes = { researcher: '10m' };
  const result = await rehearse(caller(), { prompt: callWork, called, takes });
  expect(wholeAnswers(result.text)).toBe(
    '[whole]tool said: oak | {"legs":4} | model_error: The model is down.',
  );
  expect(result.waits.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
    'timer cooling off no. 1',
    ...Array.from({ length: 3 }, () => 'run researcher'),
  ]);
  expect([result.elapsed, result.calls.filter(({ name }) => name !== 'model')]).toEqual([
    3 * 24 * 3600 + 600,
    [],
  ]);
});

test('a person allows a call that a model makes, or the model reads the denial', async () => {
  const result = await rehearse(caller(), {
    prompt: '@@ call call_researcher {"prompt":"chairs"} ;; last',
    approvalRequiredTools: ['call_*'],
    answer: () => ({ allow: false, reason: 'Too expensive.' }),
  });
  expect(result.text).toBe('tool said: denied: Too expensive.');
  expect([result.asked, result.started]).toEqual([
    [{ kind: 'permission', tool: 'call_researcher', input: { prompt: 'chairs' } }],
    [],
  ]);
});

test.each(['5 minutes', '31d', '9w', '0s', ''])('a model cannot sleep for "%s"', async (time) => {
  const prompt = `@@ call sleep {"for":"${time}","reason":"rest"} ;; last`;
  const { text, elapsed } = await rehearse(caller(), { prompt });
  expect([text, elapsed]).toEqual([
    'tool said: "for" must be such as 90s, 15m, 2h, 3d or 2w, and 30d at most.',
    0,
  ]);
});

test('a mistake in such a tool ends the run, instead of being told to the model', async () => {
  const prompt = '@@ call call_Researcher {"prompt":"chairs"} ;; say Fine.';
  const { message } = await rehearse(caller('Researcher'), { prompt });
  expect(message).toMatch(/^The name of an agent must be 1 to 64 characters of a-z, 0-9 and "-"/);
});
