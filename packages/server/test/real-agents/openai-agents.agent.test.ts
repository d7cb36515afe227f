// Agents as code with the OpenAI Agents SDK, killed and handed over at every message.
import { beforeAll, describe, expect, test } from 'vitest';
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
  played = await play('openai-agents');
}, 900_000);

test.each(['responses', 'chat completions'])(
  'text, parallel tools, approvals and a question: %s',
  (name) => {
    expect(played[name]).toMatchObject({ ...worked, tokens: 330 });
    expect(played[name]?.state).toContain('not this one');
  },
);

test('a model that an agent has is durable, and so is one in a streamed run', () => {
  const expected = { calls: ['look', 'model', 'model'], done: ['look a'] };
  expect(played['a model of its own']).toMatchObject({ ...expected, text: '[whole][whole]' });
  expect(played['a durable model in a streamed run']).toMatchObject({
    ...expected,
    text: '[whole][whole] streamed true',
  });
});

test('two agents inside an agent, each with an approval', () => {
  expect(played['nested']).toMatchObject({
    text: '[whole]tool said: tool said: {"receipt":"R-7"} | tool said: {"receipt":"R-5"}',
    asked: ['permission', 'permission'],
    done: ['refund 5', 'refund 7'],
    tokens: 660,
  });
});

test('a handoff, and tools of an MCP server', () => {
  expect(played['handoff']).toMatchObject({
    text: '[whole][whole]tool said: {"receipt":"R-7"}',
    done: ['refund 7'],
  });
  expect(played['mcp']).toMatchObject({ calls: ['mail', 'model', 'model'], done: ['mail x'] });
});

test('a model sleeps, and calls each agent of the server once', () => {
  const elapsed = 3 * 24 * 3600 + 600;
  expect(played['agents of the server']).toMatchObject({ ...calledAs, elapsed });
});

test('rules decide by the input, and the model is told what they deny', () => {
  expect(played['rules']).toMatchObject(ruledAs);
});

describe('without a loss', () => {
  test('the next run of the session has the conversation', () => {
    expect(played['memory']?.text).toBe('heron: yes');
  });

  test('a model that fails ends the run with what its provider said', () => {
    expect(played['a failing model']).toMatchObject({
      outcome: 'error',
      message: '400 Out of luck',
    });
  });

  test('the operator’s list holds for tools, and does not name the model', () => {
    const { text, asked } = played['the operator’s list'] ?? {};
    expect([text, asked]).toEqual(['tool said: never', ['permission']]);
  });
});

test('the agent of the guide asks for approval and has a question', async () => {
  const prompt =
    '@@ say Refunding. && call refund {"order":7} ;; call ask_user {"question":"Why?"} ;; last';
  expect(await rehearseGuide('openai-agents', 'openai-clerk', prompt)).toEqual({
    text: 'Refunding.tool said: yes',
    asked: ['permission', 'question'],
  });
}, 60_000);
