import { readFileSync, readdirSync } from 'node:fs';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { type JsonObject, isObject } from '../../../src/domain/json.ts';
import { acpHarness } from '../../../src/harness/acp/harness.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { agentOf, recordingLog, writeFiles } from '../../support/agent-folders.ts';
import { eventually } from '../../support/eventually.ts';
import { type SandboxPlace, Sitting, denying } from '../sittings.ts';

export interface CommandingAgent {
  readonly place: SandboxPlace;
  readonly folder?: string;
  /** Initial files of its session folder. */
  readonly sessionFolder?: Record<string, string>;
  readonly settings: JsonObject;
  /** The agent's own call that runs a command, as the model makes it. */
  readonly shell: (command: string) => string;
  /** Reason why the agent cannot be made to ask before commands that it considers harmless. */
  readonly runsHarmless?: string | undefined;
}

/** Tests of commands that real agents run: they may outlive a run or bypass the approval. */
export function commandSuite(name: string, agent: CommandingAgent): void {
  const { shell, runsHarmless } = agent;
  describe(`a command of ${name}`, () => {
    test('ends when its run is cancelled', async () => {
      const nap = napLength();
      const sitting = await sit(agent);
      const leg = sitting.start(plan(`${shell(`tail -s ${nap} -f /dev/null`)} ;; say late`));
      const heard = sitting.hear(leg);
      await eventually(() => sleepers(nap).length > 0, startMs);
      await sitting.cancel(leg);
      expect((await heard).end).toMatchObject({ outcome: 'cancelled' });
      expect(sleepers(nap)).toEqual([]);
    });

    test('that runs in the background ends with its run', async () => {
      const nap = napLength();
      const sitting = await sit(agent);
      const command = `(setsid tail -s ${nap} -f /dev/null >/dev/null 2>&1 &) ; echo begun`;
      const said = await sitting.say(plan(`${shell(command)} ;; say done`));
      expect(said.text).toContain('done');
      expect(sleepers(nap)).toEqual([]);
      expect((await sitting.say(plan('say again'))).text).toContain('again');
    });

    test.runIf(runsHarmless === undefined)(
      'is run after a person allowed it, even where the agent takes it for harmless',
      async () => {
        const sitting = await sit(agent, { approvalRequiredTools: ['execute'] });
        const said = await sitting.say(plan(`${shell('whoami')} ;; last`), () => denying);
        expect(said.asked).toMatchObject([{ type: 'permission_request', toolName: 'execute' }]);
        expect(said.end).toMatchObject({ outcome: 'completed' });
      },
    );
    test.runIf(runsHarmless !== undefined)(
      `that the agent takes for harmless is run at once, and ends the run as a fault${runsHarmless === undefined ? '' : `, since ${runsHarmless}`}`,
      async () => {
        const sitting = await sit(agent, { approvalRequiredTools: ['execute'] });
        const said = await sitting.say(plan(`${shell('whoami')} ;; say went on`));
        expect(said.text).not.toContain('went on');
        expect(said.end).toMatchObject({ outcome: 'error', code: 'agent_error' });
        expect(JSON.stringify(said.end)).toContain('without asking');
      },
    );

    test('that prints a secret of the agent is emitted without the secret', async () => {
      const secret = 'zGq81-not-to-be-told';
      vi.stubEnv('AGENT_SECRET', secret);
      onTestFinished(() => void vi.unstubAllEnvs());
      const sitting = await sit(agent, { env: { SECRET_OF_AGENT: '${env:AGENT_SECRET}' } });
      const said = await sitting.say(plan(`${shell('echo it is $SECRET_OF_AGENT')} ;; last`));
      expect(said.text).toContain('it is [secret]');
      expect(JSON.stringify(said.events)).not.toContain(secret);
    });
  });
}

/** Real agents are slow on a busy machine. */
const startMs = 60_000;
let naps = 0;
let sittings = 0;

/** Seconds to sleep: unique on this machine, so that the process can be found. */
function napLength(): string {
  naps += 1;
  return `${7000 + naps}.${process.pid}`;
}

function sleepers(nap: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8') === `tail\0-s\0${nap}\0-f\0/dev/null\0`;
    } catch {
      return false;
    }
  });
}

async function sit(
  agent: CommandingAgent,
  { approvalRequiredTools = [] as readonly string[], env = {} } = {},
): Promise<Sitting> {
  const { place, folder = '/usr' } = agent;
  sittings += 1;
  const name = `commands-${sittings}`;
  const harness = acpHarness({ sandbox: place.sandbox, clock: systemClock, log: recordingLog() });
  const places = await place.session(name);
  await writeFiles(places.sessionFolder, agent.sessionFolder ?? {});
  const given = isObject(agent.settings['env']) ? agent.settings['env'] : {};
  const settings = { ...agent.settings, env: { ...given, ...env } };
  const definition = agentOf({ framework: 'acp', folder, approvalRequiredTools, settings });
  const sitting = new Sitting(harness, { name, agent: definition, ...places });
  onTestFinished(() => sitting.release());
  return sitting;
}

function plan(script: string): string {
  return `Please do this. @@ ${script}`;
}
