import { afterAll } from 'vitest';
import { a2aHarness } from '../../../src/harness/a2a/harness.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { agentOf, recordingLog } from '../../support/agent-folders.ts';
import { type Plan, type Step as SuiteStep, adapterSuite } from '../adapter-suite.ts';
import { A2aServer, type Step } from './agent.ts';

const server = await A2aServer.start();
afterAll(() => server.close());
const host = new URL(server.url).host;

adapterSuite('a2a', {
  open: async () => ({
    harness: a2aHarness({ allow: [host], clock: systemClock, log: recordingLog() }),
  }),
  planFor: (steps) => planOf(steps.map(agentStep)),
  memory: {
    first: planOf([{ say: 'the zebra' }]),
    second: planOf([{ recall: true }]),
    expected: 'the zebra',
  },
  isWorking: () => server.working.size > 0,
  cannot: {
    approvals: 'the protocol knows no tools: what a remote agent does is not asked for',
    rules: 'the same',
    tools: 'a remote agent has no session folder',
  },
});

function planOf(steps: readonly Step[]): Plan {
  const agent = agentOf({ framework: 'a2a', settings: { url: server.url } });
  return { agent, prompt: JSON.stringify(steps) };
}

function agentStep(step: SuiteStep): Step {
  if ('say' in step || 'sayAnswer' in step || 'work' in step) return step;
  if ('ask' in step) return { ask: step.ask.question };
  if ('fail' in step) return { end: 'failed', words: step.fail };
  throw new Error('a remote agent writes no file here');
}
