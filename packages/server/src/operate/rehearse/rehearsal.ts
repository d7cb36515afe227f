import { runId, sessionId, tenantId } from '@convoke/contract';
import type { Config } from '../../config/config.ts';
import type { Agent } from '../../domain/agent.ts';
import { readRunInput } from '../../domain/run/run-input.ts';
import { createIds } from '../../runtime/ids.ts';
import { openSessionFolders } from '../../session-folders/session-folders.ts';
import { readAgent } from '../check-agents.ts';
import { type OpenHarnesses, withHarnesses } from '../with-harnesses.ts';
import { CalledAgents } from './called-agents.ts';
import { type KillProgress, type KillReport, everyKill } from './every-kill.ts';
import { type PlayOptions, type PlayedRun, type Stage, playRun } from './play-run.ts';

/** Frameworks whose agents need no account: programs that exchange lines with the server, and scripts. */
const rehearsed = new Set(['code', 'stdio', 'scripted']);

/** An agent that can be rehearsed: run in its sandbox, without a server, an account or a database. */
export interface Rehearsal {
  /** Set where its program runs without a sandbox, which the server would allow as well. */
  readonly isBare: boolean;
  /** The agents that it may call. */
  readonly called: CalledAgents;
  readonly play: (options: PlayOptions) => Promise<PlayedRun>;
  readonly everyKill: (
    options: PlayOptions,
    onProgress: (progress: KillProgress) => void,
  ) => Promise<{ readonly undisturbed: PlayedRun; readonly report: KillReport }>;
}

type RehearsalConfig = Pick<Config, 'agentsDir' | 'pricesFile' | 'a2aAllow' | 'sandbox'>;

/** Thrown when an agent cannot be rehearsed; the message says why and what to do. */
export class NotRehearsed extends Error {
  override readonly name = 'NotRehearsed';
}

/** Reads an agent's folder as a server does, and opens what its program runs in. */
export function withRehearsal<T>(
  config: RehearsalConfig,
  name: string,
  work: (rehearsal: Rehearsal) => Promise<T>,
): Promise<T> {
  const output: Stage['output'] = {};
  const rehearse = async (open: OpenHarnesses) => {
    const stage = { ...(await openStage(config, open, name)), output };
    const { level, problems } = await open.sandbox.describe();
    if (level === 'nothing') throw new NotRehearsed(problems.join('; '));
    return work({
      isBare: level === 'none',
      called: await readCalled(config, open, stage.agent),
      play: async (options) => playRun(stage, accepted(stage, options)),
      everyKill: async (options, onProgress) =>
        everyKill(stage, accepted(stage, options), onProgress),
    });
  };
  return withHarnesses(config, rehearse, (agent, line) => output.show?.(agent, line));
}

/** Refuses an input that a server would refuse. */
function accepted({ agent }: Pick<Stage, 'agent'>, options: PlayOptions): PlayOptions {
  const ruling = readRunInput(options.input, { agent, takesFiles: false });
  if (!ruling.ok) throw new NotRehearsed(ruling.message ?? ruling.code);
  return options;
}

/** One that has no folder here, or cannot be loaded, is taken for one without an `output_schema`. */
async function readCalled(
  config: RehearsalConfig,
  open: OpenHarnesses,
  { calls = [] }: Agent,
): Promise<CalledAgents> {
  const agents: Agent[] = [];
  // One after the other: loading a program takes a processor for itself.
  for (const name of calls) {
    const read = await readAgent(config, open, name);
    if (read?.ok === true) agents.push(read.agent);
  }
  return new CalledAgents(agents);
}

async function openStage(
  config: RehearsalConfig,
  open: OpenHarnesses,
  name: string,
): Promise<Omit<Stage, 'output'>> {
  const { harnesses, clock, log, dataDir, sandbox } = open;
  const read = await readAgent(config, open, name);
  if (read === undefined) throw new NotRehearsed('it has no folder');
  if (!read.ok) throw new NotRehearsed(read.reason);
  const { agent } = read;
  const harness = harnesses.get(agent.framework);
  if (harness === undefined || !rehearsed.has(agent.framework)) {
    throw new NotRehearsed(
      `its framework is ${agent.framework}, and only agents of ${[...rehearsed].join(', ')} can be rehearsed`,
    );
  }
  const { missingVariables: missing = [] } = agent.facts ?? {};
  if (missing.length > 0) {
    throw new NotRehearsed(
      `its agent.yaml refers to ${missing.join(' and ')}, and the environment has no such variable: export it first`,
    );
  }
  const ids = createIds(clock);
  return {
    agent,
    harness,
    clock,
    folders: openSessionFolders({ dataDir, log, account: sandbox.account }),
    tenantId: tenantId(ids.next('ten')),
    sessionId: sessionId(ids.next('sess')),
    runId: runId(ids.next('run')),
  };
}
