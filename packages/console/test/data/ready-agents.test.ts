import { expect, test } from 'vitest';
import { isReady, readyFirst } from '../../src/data/ready-agents.ts';

test('agents that can run come first, and the others keep their order', () => {
  const agents = [
    { name: 'acp', missing_variables: ['ACP_KEY'] },
    { name: 'assistant', missing_variables: ['MODEL_KEY'] },
    { name: 'demo' },
    { name: 'echo', missing_variables: [] },
  ];
  expect(readyFirst(agents).map(({ name }) => name)).toEqual(['demo', 'echo', 'acp', 'assistant']);
  expect(agents.filter(isReady).map(({ name }) => name)).toEqual(['demo', 'echo']);
});
