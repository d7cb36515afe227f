import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll } from 'vitest';
import { requireSandbox } from '../../../../../test/services.ts';
import { acpHarness } from '../../../src/harness/acp/harness.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { agentOf, recordingLog } from '../../support/agent-folders.ts';
import { type Plan, type Step as SuiteStep, adapterSuite } from '../adapter-suite.ts';
import { SandboxPlace } from '../sittings.ts';
import type { Step } from './agent.ts';

// The shared suite with an agent that uses all of the protocol, questions included.
const program = fileURLToPath(new URL('agent.ts', import.meta.url));
const sdk = fileURLToPath(import.meta.resolve('@agentclientprotocol/sdk'));

beforeAll(() => requireSandbox());
const place = await SandboxPlace.open();
afterAll(() => place.close());

adapterSuite('acp', {
  open: async () => ({
    harness: acpHarness({ sandbox: place.sandbox, clock: systemClock, log: recordingLog() }),
    account: place.sandbox.account,
  }),
  planFor: (steps, gatedTools) =>
    planOf(steps.flatMap(agentSteps), gatedTools.length === 0 ? [] : ['edit']),
  memory: {
    first: planOf([{ say: 'the zebra' }], []),
    second: planOf([{ report: 'history' }], []),
    expected: 'the zebra',
  },
  rules: { path: '/title' },
  shows: (written) => ({ title: written.path, input: written }),
});

function planOf(steps: readonly Step[], approvalRequiredTools: readonly string[]): Plan {
  const settings = { command: ['node', '--no-warnings', program, sdk] };
  const agent = agentOf({ framework: 'acp', folder: '/usr', approvalRequiredTools, settings });
  return { agent, prompt: JSON.stringify(steps) };
}

function agentSteps(step: SuiteStep): readonly Step[] {
  if ('say' in step || 'write' in step || 'sayAnswer' in step) return [step];
  if ('work' in step) return [{ say: 'working' }, { hang: 'listening' }];
  if ('fail' in step) return [{ fail: { code: -32_603, message: step.fail } }];
  const oneOf = step.ask.options.map((option) => ({ const: option, title: option }));
  return [{ elicit: step.ask.question, properties: { choice: { type: 'string', oneOf } } }];
}
