import { expect, test } from 'vitest';
import {
  type Content,
  isOpen,
  storedWrites,
  withAnswer,
  withCheckpoint,
  withWrites,
} from '../src/adapters/langgraph/content.ts';

const kept = (id: string) => ({ id, checkpoint: '{}', metadata: '{}', writes: {} });
const started = withCheckpoint({}, '', kept('c1'));

/** What a task writes in one go, as the saver stores it. */
async function written(
  content: Content,
  [namespace, task]: readonly [string, string],
  all: object,
): Promise<Content> {
  const writes = await storedWrites(task, Object.entries(all), async (value) =>
    JSON.stringify(value),
  );
  return withWrites(content, { namespace, id: content[namespace]?.id, writes });
}

test('an interrupt is open until its task has written something else', async () => {
  const asked = await written(started, ['', 't1'], { __interrupt__: { id: 'i1', value: 'One?' } });
  expect([isOpen(asked, 'i1'), isOpen(asked, 'i2')]).toEqual([true, false]);
  const second = { __interrupt__: { id: 'i1', value: 'Two?' }, __resume__: ['yes'] };
  const again = await written(asked, ['', 't1'], second);
  expect(isOpen(again, 'i1')).toBe(true);
  const other = await written(again, ['', 't2'], { messages: [] });
  expect(isOpen(other, 'i1')).toBe(true);
  const ended = await written(other, ['', 't1'], { messages: [], __resume__: ['yes', '2'] });
  expect(isOpen(ended, 'i1')).toBe(false);
});

test('one of a subgraph is over with the task that raised it, though those around it still have it', async () => {
  const inside = 'inner:t1';
  const interrupt = { id: 'i1', value: 'Why?' };
  const raised = await written(withCheckpoint(started, inside, kept('c2')), [inside, 't2'], {
    __interrupt__: interrupt,
  });
  const asked = await written(raised, ['', 't1'], { __interrupt__: [interrupt] });
  expect(isOpen(asked, 'i1')).toBe(true);
  expect(isOpen(await written(asked, [inside, 't2'], { messages: [] }), 'i1')).toBe(false);
  expect(isOpen(withCheckpoint(asked, inside, kept('c3')), 'i1')).toBe(false);
});

test('the answer of a tool is kept until the next checkpoint of its graph', async () => {
  const inside = 'inner:t1';
  const [one, two] = ['', inside].map((graph) => ({
    graph,
    key: `call in ${graph}`,
    answer: null,
  }));
  let content = withCheckpoint(started, inside, kept('c2'));
  for (const each of [one, two]) if (each !== undefined) content = withAnswer(content, each);
  content = await written(content, ['', 't1'], { __interrupt__: { id: 'i1', value: 'Two?' } });
  expect(content['']?.answers).toEqual({ 'call in ': 'null' });
  expect(content[inside]?.answers).toEqual({ 'call in inner:t1': 'null' });
  content = withCheckpoint(content, inside, kept('c3'));
  expect([content['']?.answers, content[inside]?.answers]).toEqual([
    { 'call in ': 'null' },
    undefined,
  ]);
  expect(withCheckpoint(content, '', kept('c4'))).toEqual({ '': kept('c4') });
});

test('the next checkpoint of one of several graphs that a node runs leaves those beside it', () => {
  const first = 'tools:t1';
  const inner = [first, `${first}|1`, `${first}|1|ask:t3`, `${first}|act:t2`];
  const all = inner.reduce((content, name) => withCheckpoint(content, name, kept(name)), started);
  const next = withCheckpoint(all, first, kept('c5'));
  expect(Object.keys(next).toSorted()).toEqual(['', first, `${first}|1`, `${first}|1|ask:t3`]);
  expect(Object.keys(withCheckpoint(next, `${first}|1`, kept('c6'))).toSorted()).toEqual([
    '',
    first,
    `${first}|1`,
  ]);
  expect(withCheckpoint(next, '', kept('c7'))).toEqual({ '': kept('c7') });
});
