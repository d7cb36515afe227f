import { expect, test } from 'vitest';
import { type CallNode, callTree, nameWithCaller } from '../src/call-tree.ts';

interface Row {
  readonly id: string;
  readonly parent_run_id?: string;
}

const row = (id: string, parent_run_id: string): Row => ({ id, parent_run_id });

/** `a(b c(d))`. */
function written(nodes: readonly CallNode<Row>[]): string {
  return nodes
    .map(({ run, calls }) => (calls.length === 0 ? run.id : `${run.id}(${written(calls)})`))
    .join(' ');
}

test('called runs stand below their callers, in the order of the list', () => {
  const runs = [row('b', 'a'), row('c', 'a'), row('d', 'c'), row('e', 'b'), row('f', 'd')];
  expect(written(callTree(runs))).toBe('b(e) c(d(f))');
  expect(written(callTree(runs.toReversed()))).toBe('c(d(f)) b(e)');
  expect(callTree([])).toEqual([]);
});

test('a run whose caller is not in the list stands on top, and so does one without a caller', () => {
  expect(written(callTree([row('d', 'c'), row('e', 'd'), { id: 'f' }]))).toBe('d(e) f');
});

test('runs that name each other as callers, which no server says, end in no endless tree', () => {
  expect(callTree([row('a', 'b'), row('b', 'a'), row('c', 'c')])).toEqual([]);
});

test('an agent that asks for another one is named with it', () => {
  const asked = { agent_name: 'researcher', parent_run_id: 'run_1' };
  expect(nameWithCaller({ ...asked, parent_agent_name: 'planner' })).toBe(
    'researcher, called by planner',
  );
  // Its caller is not stored any more.
  expect(nameWithCaller(asked)).toBe('researcher, called by another run');
  expect(nameWithCaller({ agent_name: 'planner' })).toBe('planner');
});
