// Agents as code with Mastra, killed and handed over at every message.
import { beforeAll, expect, test } from 'vitest';
import {
  type Played,
  calledAs,
  play,
  rehearseGuide,
  ruledAs,
  worked,
} from './framework-programs.ts';

let played: Readonly<Record<string, Played>>;
beforeAll(async () => {
  played = await play('mastra');
}, 900_000);

test('text, parallel tools, approvals and a tool that suspends', () => {
  expect(played['work']).toMatchObject({
    ...worked,
    done: ['look a', 'look b', 'refund 9', 'suspend'],
    tokens: 330,
  });
  expect(played['work']?.state).toContain('not this one');
});

test('a function decides which calls need an approval', () => {
  expect(played['an approval that a function decides']).toMatchObject({
    text: '[whole]tool said: {"receipt":"R-4"} | {"receipt":"R-9"}',
    asked: ['permission'],
    done: ['refund 4', 'refund 9'],
  });
});

test.each([
  ['an unknown value', '{"a":[1]}'],
  ['no value', 'The tool "ask_user" waits for an answer.'],
])('a tool that suspends with %s is asked about, and gets the answer', (name, question) => {
  const { text, message } = played[name] ?? {};
  expect([text, message]).toEqual(['[whole]tool said: ok', question]);
});

test('two agents inside an agent, each with an approval', () => {
  expect(played['nested']).toMatchObject({
    text: '[whole]tool said: tool said: {"receipt":"R-7"} | tool said: {"receipt":"R-5"}',
    asked: ['permission', 'permission'],
    done: ['refund 5', 'refund 7'],
    tokens: 660,
  });
});

test('a model sleeps, and calls each agent of the server once', () => {
  const elapsed = 3 * 24 * 3600 + 600;
  expect(played['agents of the server']).toMatchObject({ ...calledAs, elapsed });
});

test('rules decide by the input, and the model is told what they deny', () => {
  expect(played['rules']).toMatchObject(ruledAs);
});

test('memory, a failing model and the operator’s list', () => {
  expect(played['memory']?.text).toBe('heron: yes');
  expect(played['a failing model']).toMatchObject({ outcome: 'error', message: 'Out of luck' });
  const { text, asked } = played['the operator’s list'] ?? {};
  expect([text, asked]).toEqual(['tool said: never', ['permission']]);
});

test('the agent of the guide asks for approval and has a question', async () => {
  const prompt =
    '@@ say Refunding. && call refund {"order":7} ;; call ask_user {"question":"Why?"} ;; last';
  expect(await rehearseGuide('mastra', 'mastra-clerk', prompt)).toEqual({
    text: 'Refunding.tool said: yes',
    asked: ['permission', 'question'],
  });
}, 60_000);
