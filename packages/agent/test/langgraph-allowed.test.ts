import { expect, test } from 'vitest';
import { AllowedCalls, readSaved } from '../src/adapters/langgraph/allowed.ts';

const seven = { order: 7, note: 'late' };
const by = (call: string, graph = '') => ({ by: call, graph });
const sizeOf = (calls: AllowedCalls) => {
  const { '|allowed': kept = {} } = calls.savedWith({}) as { '|allowed'?: object };
  return Object.keys(kept).length;
};

test('an allow is for one call, which finds it again when its node runs again', () => {
  const calls = new AllowedCalls({});
  calls.add('interrupt 1 0', { tool: 'refund', input: seven });
  expect(calls.take(by('a'), 'refund', [{ order: 8 }])).toBeUndefined();
  expect(calls.take(by('a'), 'look', [seven])).toBeUndefined();
  expect(calls.take(by('a'), 'refund', [{ order: 8 }, seven])).toEqual(seven);
  expect(calls.take(by('b'), 'refund', [seven])).toBeUndefined();
  // As a database returns it.
  const { allowed } = readSaved(JSON.parse(JSON.stringify(calls.savedWith({}))));
  const other = { note: 'late', order: 7 };
  expect(allowed.take(by('b'), 'refund', [other])).toBeUndefined();
  expect(allowed.take(by('a'), 'refund', [other])).toEqual(other);
});

test('what calls have taken is kept until their graph has passed their nodes, however many a run makes', () => {
  const calls = new AllowedCalls({});
  for (let round = 0; round < 50; round += 1) {
    calls.add(`interrupt ${round} 0`, { tool: 'refund', input: seven });
    // Allowed, and not yet called: the next checkpoint comes before the node of the tools.
    calls.forgetGraph('');
    const took = by(`tools:${round} call`);
    expect(calls.take(took, 'refund', [seven])).toEqual(seven);
    calls.forgetGraph('other');
    calls.forgetGraph(`other:${round}`);
    expect(calls.take(took, 'refund', [seven])).toEqual(seven);
    calls.forgetGraph('');
    expect(sizeOf(calls)).toBe(0);
    expect(calls.take(took, 'refund', [seven])).toBeUndefined();
  }
});

test('those of a subgraph are kept until it, or the graph around its node, has passed them', () => {
  const calls = new AllowedCalls({});
  const graphs = ['inner:t1', 'inner:t1|deep:t2', 'inner:t1|1', 'memory'];
  for (const graph of graphs) {
    calls.add(graph, { tool: 'refund', input: seven });
    expect(calls.take(by(graph, graph), 'refund', [seven])).toEqual(seven);
  }
  calls.forgetGraph('inner:t1');
  // One of several graphs of a node is beside the others.
  expect(sizeOf(calls)).toBe(2);
  // A subgraph that keeps its memory is not over with a node of the graph around it.
  calls.forgetGraph('');
  expect(calls.take(by('memory', 'memory'), 'refund', [seven])).toEqual(seven);
  calls.forgetGraph('memory');
  expect(sizeOf(calls)).toBe(0);
});
