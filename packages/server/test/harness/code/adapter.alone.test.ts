import { readFileSync, readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll } from 'vitest';
import { requireSandbox } from '../../../../../test/services.ts';
import type { Json } from '../../../src/domain/json.ts';
import { agentOf } from '../../support/agent-folders.ts';
import { type Plan, type Step, adapterSuite } from '../adapter-suite.ts';
import { openCode } from './open-code.ts';

const folder = dirname(fileURLToPath(import.meta.url));
/** A sleep of this many seconds identifies the test's own process on the machine. */
const nap = `7072.${process.pid}`;

beforeAll(() => requireSandbox());

for (const entry of ['program.ts', 'program.py']) {
  adapterSuite(`code (${entry})`, {
    replays: true,
    async open() {
      const { harness, sandbox, close } = await openCode();
      return { harness, account: sandbox.account, close };
    },
    planFor: (steps, gatedTools) => planOf(entry, steps.map(programStep), gatedTools),
    memory: {
      first: planOf(entry, [{ remember: 'blue' }], []),
      second: planOf(entry, [{ recall: true }], []),
      expected: 'I remember blue',
    },
    isWorking: () => readdirSync('/proc').some(isWorker),
  });
}

function planOf(entry: string, steps: Json, approvalRequiredTools: readonly string[]): Plan {
  const settings = { entry };
  const agent = agentOf({ framework: 'code', folder, approvalRequiredTools, settings });
  return { agent, prompt: JSON.stringify(steps) };
}

function programStep(step: Step): Json {
  return 'work' in step ? { work: nap } : JSON.parse(JSON.stringify(step));
}

function isWorker(pid: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8') === `sleep\0${nap}\0`;
  } catch {
    return false;
  }
}
