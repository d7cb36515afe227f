import { everyKill } from '@convoke/agent/test';
import { beforeEach, expect, test } from 'vitest';
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
  rules,
  teamWork,
  work,
} from './ai-sdk-agents.ts';

beforeEach(() => {
  done.length = 0;
});

test('text, parallel tools, approvals and questions survive a loss at every moment', async () => {
  const result = await everyKill(() => clerk(), { prompt: work, answer, comparable });
  expect(result).toMatchObject({ outcome: 'completed', tokens: 330 });
  expect(wholeAnswers(result.text)).toBe('[whole][whole][whole]tool said: late');
  const names = result.calls.map(({ name }) => name).toSorted((a, b) => a.localeCompare(b));
  expect(names).toEqual(['look', 'look', 'model', 'model', 'model', 'refund']);
  expect(new Set(done)).toEqual(new Set(['look a', 'look b', 'refund 9']));
});

test('so does a conversation whose answers have ids, as those of the responses API have', async () => {
  const prompt = '@@ chat && call refund {"order":7} ;; chat && last';
  const result = await everyKill(() => clerk('responses'), { prompt, answer, comparable });
  expect(wholeAnswers(result.text)).toBe('[whole][whole]tool said: {"receipt":"R-9"}');
});

test('a call is decided by its input once, and neither asked about nor denied twice', async () => {
  const orders = [4, 5, 7].map((order) => `call refund {"order":${order}}`);
  const prompt = `@@ chat && ${orders.join(' && ')} ;; last`;
  const result = await everyKill(freeClerk, { prompt, answer, rules, comparable });
  expect(result.asked).toHaveLength(1);
  expect(new Set(done)).toEqual(new Set(['refund 4', 'refund 9']));
});

test('agents inside an agent ask for their own approvals, and are not heard', async () => {
  const result = await everyKill(leader, { prompt: teamWork, comparable });
  expect(wholeAnswers(result.text)).toBe(
    '[whole]tool said: tool said: {"receipt":"R-7"} | tool said: {"receipt":"R-5"}',
  );
  expect(result.asked).toHaveLength(2);
  expect(new Set(done)).toEqual(new Set(['refund 7', 'refund 5']));
});

test('a model sleeps, and calls each agent once', async () => {
  const options = { prompt: callWork, called, takes: { researcher: '10m' }, comparable };
  const result = await everyKill(() => caller(), options);
  expect(wholeAnswers(result.text)).toBe(
    '[whole]tool said: oak | {"legs":4} | model_error: The model is down.',
  );
  expect(result.started).toHaveLength(3);
  expect(result.elapsed).toBe(3 * 24 * 3600 + 600);
});
