import { expect, test } from 'vitest';
import { approvalWords, bestToTry, isReady, readyFirst } from '../../src/data/ready-agents.ts';

test('agents that can run come first, and the others keep their order', () => {
  const agents = [
    { name: 'acp', missing_variables: ['ACP_KEY'] },
    { name: 'assistant', missing_variables: ['MODEL_KEY'] },
    { name: 'broken', problem: 'agent.yaml:3:1: …' },
    { name: 'demo' },
    { name: 'echo', missing_variables: [] },
  ];
  expect(readyFirst(agents).map(({ name }) => name)).toEqual([
    'demo',
    'echo',
    'acp',
    'assistant',
    'broken',
  ]);
  expect(agents.filter(isReady).map(({ name }) => name)).toEqual(['demo', 'echo']);
});

test('a newcomer is shown the demo, else an agent that asks and needs no model, else any that can run', () => {
  const agent = (name: string, more = {}) => ({ name, approval_required_tools: [], ...more });
  const unable = agent('demo', { missing_variables: ['KEY'] });
  const priced = agent('priced', { model: 'm', approval_required_tools: ['pay'] });
  const asks = agent('asks', { approval_required_tools: ['write_file'] });
  const best = (...agents: ReturnType<typeof agent>[]) => bestToTry(agents)?.name;
  expect(best(asks, agent('demo'))).toBe('demo');
  expect(best(unable, priced, agent('echo'), asks)).toBe('asks');
  expect(best(unable, priced)).toBe('priced');
  expect(best(unable)).toBeUndefined();
});

test('a pattern for every tool is not counted as one tool', () => {
  expect(approvalWords(['*'])).toBe('every tool needs approval');
  expect(approvalWords(['write_file'])).toBe('1 tool needs approval');
});
