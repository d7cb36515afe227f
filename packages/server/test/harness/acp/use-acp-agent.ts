import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sessionId } from '@convoke/contract';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { requireSandbox } from '../../../../../test/services.ts';
import type { Agent } from '../../../src/domain/agent.ts';
import { acpHarness } from '../../../src/harness/acp/harness.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { agentOf, recordingLog } from '../../support/agent-folders.ts';
import { SandboxPlace, Sitting } from '../sittings.ts';
import type { Step } from './agent.ts';

/** The test agent and the SDK it imports. */
export const program = fileURLToPath(new URL('agent.ts', import.meta.url));
export const sdk = fileURLToPath(import.meta.resolve('@agentclientprotocol/sdk'));

interface Sit {
  readonly flags?: readonly string[];
  readonly agent?: Partial<Agent>;
  readonly settings?: object;
  readonly clock?: Clock;
}

/** Opens a sandbox for the tests of a file; `sit` starts a session with the test agent in it. */
export function useAcpAgent() {
  let place: SandboxPlace;
  let sessions = 0;
  beforeAll(async () => {
    requireSandbox();
    place = await SandboxPlace.open();
  });
  afterAll(() => place.close());

  async function sit({ flags = [], agent: parts, settings, clock = systemClock }: Sit) {
    sessions += 1;
    const name = String(sessions);
    const places = await place.session(name);
    const agent = acpAgent({
      flags,
      ...(parts && { agent: parts }),
      ...(settings && { settings }),
    });
    const harness = () => {
      const made = acpHarness({ sandbox: place.sandbox, clock, log: recordingLog() });
      onTestFinished(() => made.release?.(sessionId(`sess_${name}`)));
      return made;
    };
    const sitting = new Sitting(harness(), { name, agent, ...places });
    const made = async (file: string) => {
      const path = join(places.sessionFolder, file);
      return existsSync(path) ? readFile(path, 'utf8') : undefined;
    };
    const put = (file: string) => writeFile(join(places.sessionFolder, file), '');
    return { sitting, harness, made, put, agent };
  }
  return { sit, folder: () => place.folder, place: () => place };
}

export function acpAgent({ flags = [], agent = {}, settings = {} }: Omit<Sit, 'clock'>): Agent {
  return agentOf({
    framework: 'acp',
    folder: fileURLToPath(new URL('.', import.meta.url)),
    settings: {
      // Names the SDK in the command so that the sandbox shows it to the agent.
      command: ['node', '--no-warnings', program, ...flags, sdk],
      env: {},
      tools: ['*'],
      mcp_servers: {},
      ask_user: true,
      limits: { max_steps: 25, memory_mb: 512, pids: 64 },
      sandbox: { mode: 'auto', network: [] },
      ...settings,
    },
    ...agent,
  });
}

export function steps(...list: readonly Step[]): string {
  return JSON.stringify(list);
}
