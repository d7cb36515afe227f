import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { requireSandbox } from '../../../../test/services.ts';
import { type JsonObject, isObject } from '../../src/domain/json.ts';
import { acpHarness } from '../../src/harness/acp/harness.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { type CommandingAgent, commandSuite } from '../harness/acp/commands.ts';
import {
  type AdapterUnderTest,
  type Plan,
  type Step,
  adapterSuite,
} from '../harness/adapter-suite.ts';
import { type AgentPackage, installedAgent } from '../harness/installed-agent.ts';
import { SandboxPlace, Sitting } from '../harness/sittings.ts';
import { agentOf, recordingLog, writeFiles } from '../support/agent-folders.ts';
import { startModelServer } from '../support/model-server/server.ts';

export interface RealAcpAgent {
  readonly package: AgentPackage;
  /** Its settings in an `agent.yaml`. */
  readonly settings: (place: { modules: string; modelUrl: string }) => JsonObject;
  /** Its tool that writes a file, as the model calls it. */
  readonly write: (file: string, text: string) => { tool: string; input: object };
  /** A harmless tool that needs no approval, to get another turn. */
  readonly look: { readonly tool: string; readonly input: object };
  /** Its tool that runs a command. */
  readonly shell: (command: string) => { tool: string; input: object };
  readonly ask?: (question: string, options: readonly string[]) => { tool: string; input: object };
  /** Files of the agent's folder, which it sees as /agent. */
  readonly files?: Readonly<Record<string, JsonObject>>;
  /** Its settings with a key, and with a model, that the provider refuses. */
  readonly refused: (given: JsonObject) => { readonly key: JsonObject; readonly model: JsonObject };
  readonly runsHarmless?: CommandingAgent['runsHarmless'];
  readonly cannot?: AdapterUnderTest['cannot'];
  readonly beforeRestart?: () => Promise<void>;
}

/** The shared suite with a real command-line agent inside the sandbox, over the real protocol. */
export async function acpSuite(agent: RealAcpAgent): Promise<void> {
  beforeAll(() => requireSandbox());
  const model = await startModelServer();
  const place = await SandboxPlace.open();
  const modules = await installedAgent(agent.package);
  afterAll(async () => {
    await place.close();
    await model.close();
  });
  const given: JsonObject = {
    limits: { memory_mb: 3072, pids: 256 },
    sandbox: { mode: 'auto', network: [new URL(model.url).host] },
    ...agent.settings({ modules, modelUrl: model.url }),
  };
  const folder = join(place.folder, 'agent');
  await mkdir(folder, { mode: 0o755 });
  await chmod(place.folder, 0o755);
  for (const [name, content] of Object.entries(agent.files ?? {})) {
    await writeFile(join(folder, name), JSON.stringify(content), { mode: 0o644 });
  }
  const planOf = (script: string, approvalRequiredTools: readonly string[]): Plan => ({
    agent: agentOf({ framework: 'acp', folder, approvalRequiredTools, settings: given }),
    prompt: `Please do this. @@ ${script}`,
  });
  adapterSuite(`acp (${agent.package.name} ${agent.package.version})`, {
    open: async () => ({
      harness: acpHarness({ sandbox: place.sandbox, clock: systemClock, log: recordingLog() }),
      account: place.sandbox.account,
    }),
    planFor: (steps, gatedTools) =>
      planOf(scriptOf(steps, agent), gatedTools.length === 0 ? [] : ['edit']),
    memory: {
      first: planOf('say My favourite animal is the zebra', []),
      second: planOf('probe favourite animal is the z+ebra', []),
      expected: 'favourite animal is the zebra: yes',
    },
    isWorking: () => model.log.requests.some(({ ended }) => ended === 'open'),
    rules: { path: '/title' },
    shows: () => ({ title: expect.stringContaining('note.txt') }),
    ...(agent.cannot && { cannot: agent.cannot }),
    ...(agent.beforeRestart && { beforeRestart: agent.beforeRestart }),
  });
  const refused = agent.refused(given);
  test.each([
    ['key', refused.key, /API key|401|auth/i],
    ['model', refused.model, /model|404/i],
  ] as const)(
    'a %s that the provider refuses is named in the error',
    async (...[what, settings, words]) => {
      const name = `refused-${what}`;
      const harness = acpHarness({
        sandbox: place.sandbox,
        clock: systemClock,
        log: recordingLog(),
      });
      const definition = agentOf({ framework: 'acp', folder, settings });
      const sitting = new Sitting(harness, {
        name,
        agent: definition,
        ...(await place.session(name)),
      });
      onTestFinished(() => sitting.release());
      const { end } = await sitting.say('Please do this. @@ say never');
      expect(end).toMatchObject({ outcome: 'error', code: 'model_error' });
      expect(JSON.stringify(end)).toMatch(words);
    },
  );
  test('finds the skills that the service copies into its session folder', async () => {
    const harness = acpHarness({ sandbox: place.sandbox, clock: systemClock, log: recordingLog() });
    const places = await place.session('skilled');
    const skill = '---\nname: greet\ndescription: Greets with PLIMSOLL\n---\nSay hello.\n';
    await writeFiles(places.sessionFolder, {
      '.agents/skills/greet/SKILL.md': skill,
      '.claude/skills/greet/SKILL.md': skill,
    });
    const { agent: definition, prompt } = planOf('probe PLIM+SOLL', []);
    const sitting = new Sitting(harness, { name: 'skilled', agent: definition, ...places });
    onTestFinished(() => sitting.release());
    expect((await sitting.say(prompt)).text).toContain('PLIMSOLL: yes');
  });
  const shell = (command: string) => called(agent.shell(command));
  const { runsHarmless } = agent;
  commandSuite(agent.package.name, { place, folder, settings: given, shell, runsHarmless });
}

/** A call ends a turn of the model; the next turn answers its result. */
function scriptOf(steps: readonly Step[], agent: RealAcpAgent): string {
  return steps
    .map((step, index) => {
      const isFollowed = 'say' in step && index < steps.length - 1;
      return `${scriptStep(step, agent)}${isFollowed ? ` && ${called(agent.look)}` : ''}`;
    })
    .join(' ;; ');
}

function scriptStep(step: Step, { write, ask }: RealAcpAgent): string {
  if ('say' in step) return `say ${step.say.trim()}`;
  if ('write' in step) return called(write(step.write.path, step.write.text));
  if ('sayAnswer' in step) return 'last';
  if ('fail' in step) return `fail 400 ${step.fail}`;
  if ('work' in step) return 'say working && hang';
  if (ask === undefined) throw new Error('this agent cannot ask');
  return called(ask(step.ask.question, step.ask.options));
}

/** The same settings with these variables changed. */
export function withEnv(given: JsonObject, changed: Record<string, string>): JsonObject {
  const env = isObject(given['env']) ? given['env'] : {};
  return { ...given, env: { ...env, ...changed } };
}

function called({ tool, input }: { tool: string; input: object }): string {
  return `call ${tool} ${JSON.stringify(input)}`;
}
