// Agents as code with LangGraph, killed and handed over at every message.
import { beforeAll, describe, expect, test } from 'vitest';
import { type Played, calledAs, play, rehearseGuide } from './framework-programs.ts';

let played: Readonly<Record<string, Played>>;
beforeAll(async () => {
  played = await play('langgraph');
}, 900_000);

describe('at every message', () => {
  test('a graph of one’s own says what it says once, and calls its tools once', () => {
    expect(played['a graph of one’s own']).toMatchObject({
      text: '[whole][whole]tool said: saw a | R-7',
      calls: ['look', 'refund'],
      done: ['look a', 'refund 7'],
      tokens: 220,
    });
  });

  test('each of two interrupts in one node gets its own answer', () => {
    expect(played['two interrupts in one node']).toMatchObject({
      text: 'yes 2',
      asked: ['question', 'question'],
    });
  });

  test('a node that speaks and then steps is never half of two answers', () => {
    expect(played['a node that speaks and then steps']).toMatchObject({
      text: '[whole][whole][whole]',
      calls: ['note'],
    });
    expect(played['nodes at once']).toMatchObject({ text: '[whole][whole]', calls: ['a', 'b'] });
  });

  test('the middleware for a person in the loop: approved with another input, and rejected', () => {
    expect(played['createAgent']).toMatchObject({
      text: '[whole][whole][whole]tool said: late',
      asked: ['permission', 'question'],
      done: ['ask', 'look a', 'look b', 'refund 9'],
      tokens: 330,
    });
    expect(played['a rejection']).toMatchObject({
      text: '[whole][whole]tool said: not this one',
      asked: ['permission'],
      done: [],
    });
  });

  test('a tool that interrupts, beside one that has an effect', () => {
    expect(played['a tool that interrupts']).toMatchObject({
      text: '[whole]tool said: late | R-7',
      calls: ['ask_user', 'ask_user', 'refund'],
      done: ['ask', 'refund 7'],
    });
  });

  test('each of several tools in one node gets the answers to its own interrupts', () => {
    expect(played['tools of one node that interrupt']).toMatchObject({
      text: 'tool said: re a 0?, re a 1? | re b 0? | R-7 | re c 0?',
      asked: ['question', 'question', 'question', 'question'],
      done: ['refund 7'],
    });
    expect(played['tools of one node that wait']).toMatchObject({
      text: 'tool said: paid x | about chairs | sent y | re a 0?',
      done: [],
      started: 1,
    });
    expect(played['tools that a node calls between its own interrupts']).toMatchObject({
      text: 're Before? | re a 0?, re a 1? | re b 0?, re b 1? | re After?',
      done: [],
    });
  });

  test('a subgraph that speaks, asks and acts', () => {
    expect(played['subgraph']).toMatchObject({
      text: '[whole][whole][whole]',
      asked: ['question'],
      done: ['act'],
    });
  });

  test('graphs that tools run, whose answers reach them', () => {
    const lawyer = 're ask_lawyer 1?, re ask_lawyer 2?';
    expect(played['a graph inside a tool']).toMatchObject({
      text: `tool said: ${lawyer} | R-7`,
      asked: ['question', 'question'],
      done: ['act ask_lawyer', 'refund 7'],
    });
    expect(played['graphs inside tools of one node']).toMatchObject({
      text: `tool said: ${lawyer} | ${lawyer.replaceAll('lawyer', 'bank')}`,
      done: ['act ask_bank', 'act ask_lawyer'],
    });
  });

  test('what a person has allowed already, the operator’s list does not ask again (D-176)', () => {
    expect(played['the operator’s list beside the middleware']).toMatchObject({
      text: '[whole][whole]tool said: saw a | R-9',
      asked: ['permission'],
      calls: ['look', 'refund'],
      done: ['look a', 'refund 9'],
    });
  });

  test('the operator’s list holds for steps of nodes', () => {
    expect(played['the operator’s list for a step of a node']).toMatchObject({
      text: 'paid denied: not this one',
      asked: ['permission', 'permission'],
      done: ['pay 9'],
    });
  });

  test('rules decide about tools by their input, and the model is told what they deny', () => {
    expect(played['rules for tools']).toMatchObject({
      text: 'tool said: R-4 | Not allowed by the rule five of the agent. | R-9 | not this one',
      asked: ['permission', 'permission'],
      done: ['refund 4', 'refund 9'],
    });
  });

  test('each interrupt of a node gets its own answer, whatever rules say about the steps between', () => {
    expect(played['rules and interrupts in one node']).toMatchObject({
      text: 'One?, Not allowed by the rule five of the agent., paid 9, Two?, not this one, Three?, paid 4',
      asked: ['question', 'permission', 'question', 'permission', 'question'],
      done: ['pay 4', 'pay 9'],
    });
  });

  test('a tool that interrupts is carried out twice, and a person allows each', () => {
    expect(played['a tool that interrupts and that a rule asks about']).toMatchObject({
      text: '[whole]tool said: late | R-7',
      asked: ['permission', 'permission', 'question', 'permission'],
      done: ['ask', 'refund 7'],
    });
  });

  test('a model sleeps, and calls each agent of the server once', () => {
    const day = 24 * 3600;
    // The calls of one node stop it one after the other; createAgent has a node for each.
    expect(played['agents of the server']).toMatchObject({ ...calledAs, elapsed: 3 * day + 1200 });
    const abreast = played['agents of the server, side by side'];
    expect(abreast).toMatchObject({ ...calledAs, elapsed: 3 * day + 600 });
  });

  test('a node sleeps, receives messages and calls an agent, each once', () => {
    expect(played['waits of a node']).toMatchObject({
      text: '[{"timedOut":false,"data":"chairs"},{"timedOut":true}] about chairs yes',
      asked: ['question'],
      done: ['remind'],
      elapsed: 24 * 3600,
      started: 1,
    });
  });

  test('the operator’s list holds for tools', () => {
    expect(played['the operator’s list']).toMatchObject({
      text: 'tool said: saw a | R-9 | not this one',
      asked: ['permission', 'permission'],
      done: ['look a', 'refund 9'],
    });
  });
});

test('memory, a silent model, and a failing one', () => {
  expect(played['memory']?.text).toBe('heron: yes');
  expect(played['a silent model']?.text).toBe('shown');
  expect(played['a failing model']).toMatchObject({
    outcome: 'error',
    message: 'Error: 400 Out of luck',
  });
});

test('a graph that a durable tool runs is not asked about the same again and again', () => {
  expect(played['a graph inside a durable tool']).toMatchObject({
    outcome: 'error',
    message: expect.stringMatching(/^A graph that a durable tool runs must not interrupt: /),
    asked: [],
  });
});

test('a promise of ctx inside a node is refused, because it would hold the graph for ever', () => {
  expect(played['a wait of ctx in a node']).toMatchObject({
    outcome: 'error',
    message: expect.stringMatching(
      /^A node must not wait with ctx, .* Use interrupt\(\), or sleep\(\)/,
    ),
  });
});

test.each([
  ['an unknown value', '{"a":[1]}'],
  ['no value', 'The graph waits for an answer.'],
])('an interrupt with %s is asked about, and gets the answer', (name, question) => {
  const { text, message } = played[name] ?? {};
  expect([text, message]).toEqual(['ok', question]);
});

test('the agent of the guide asks its question, and refunds', async () => {
  const prompt = '@@ say Refunding. && call refund {"order":7} ;; last';
  expect(await rehearseGuide('langgraph', 'graph-clerk', prompt)).toEqual({
    text: 'Refunding.tool said: R-7',
    asked: ['question'],
  });
}, 60_000);
