import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runId, sessionId, tenantId } from '@convoke/contract';
import { removeFolder } from '../../../../../test/remove-folder.ts';
import type { Agent } from '../../../src/domain/agent.ts';
import { stdioHarness } from '../../../src/harness/stdio/harness.ts';
import type { KnownCall } from '../../../src/domain/run/tool-call.ts';
import type { KnownWait } from '../../../src/domain/run/wait.ts';
import type {
  Answer,
  Harness,
  HarnessEvent,
  Leg,
  LegContext,
  LegInput,
} from '../../../src/ports/harness.ts';
import type { Sandbox, SandboxMode } from '../../../src/ports/sandbox.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { openSandbox } from '../../../src/sandbox/sandbox.ts';
import { openSessionFolders } from '../../../src/session-folders/session-folders.ts';
import { readBy, recordingLog } from '../../support/agent-folders.ts';
import { ruledEffects } from '../../support/effects.ts';

export interface OpenStdio {
  readonly harness: Harness;
  readonly sandbox: Sandbox;
  readonly dataDir: string;
  readonly close: () => Promise<void>;
}

/** The real sandbox and the real adapter. */
export async function openStdio(mode: SandboxMode = 'auto'): Promise<OpenStdio> {
  const dataDir = await mkdtemp(join(tmpdir(), 'convoke-stdio-'));
  const parts = { clock: systemClock, log: recordingLog() };
  const sandbox = await openSandbox({ ...parts, mode, dataDir });
  return {
    harness: stdioHarness({ ...parts, sandbox }),
    sandbox,
    dataDir,
    async close() {
      await sandbox.close();
      await removeFolder(dataDir);
    },
  };
}

export interface Played {
  readonly events: readonly HarnessEvent[];
  readonly text: string;
  readonly end: HarnessEvent | undefined;
  readonly sessionFolder: string;
}

export interface PlayMore extends Partial<LegContext> {
  readonly answers?: Readonly<Record<string, Answer>>;
  /** For a leg that continues after an interruption. */
  readonly calls?: Readonly<Record<string, KnownCall>>;
  /** For a leg behind one of them. */
  readonly waits?: ReadonlyMap<string, KnownWait>;
  readonly onStart?: (leg: Leg) => void;
  readonly onEvent?: (event: HarnessEvent) => void;
}

function inputOf({ answers = {}, calls, waits }: PlayMore): LegInput {
  const given = new Map(Object.entries(answers));
  if (calls !== undefined) {
    const known = new Map(Object.entries(calls));
    return { kind: 'continue', reason: 'worker_lost', answers: given, calls: known };
  }
  if (waits !== undefined) {
    return { kind: 'continue', reason: 'answered', answers: given, calls: new Map(), waits };
  }
  return given.size === 0 ? { kind: 'prompt' } : { kind: 'resume', answers: given };
}

/** Runs one leg of an agent, in a new session or in the given one. */
export async function playProgram(
  { harness, sandbox, dataDir }: OpenStdio,
  given: Agent,
  more: PlayMore = {},
): Promise<Played> {
  const { answers, calls: _, waits: __, onStart, onEvent, ...context } = more;
  const agent = readBy(harness, given);
  const id = context.sessionId ?? sessionId(`sess_${Math.random().toString(36).slice(2)}`);
  const { account } = sandbox;
  const prepared = await openSessionFolders({ dataDir, log: recordingLog(), account }).prepare({
    tenantId: tenantId('ten_1'),
    sessionId: id,
    agent,
    expected: answers !== undefined,
    files: [],
  });
  if (!prepared.found) throw new Error('the workspace is lost');
  const input = inputOf(more);
  const leg = harness.start(input, {
    ...prepared,
    effects: ruledEffects(agent, input),
    runId: runId('run_1'),
    sessionId: id,
    agent,
    settings: agent.settings,
    runNumber: 1,
    prompt: 'hello',
    input: { prompt: 'hello' },
    state: undefined,
    signal: new AbortController().signal,
    holdsLease: () => true,
    ...context,
  });
  onStart?.(leg);
  const events: HarnessEvent[] = [];
  for await (const event of leg) {
    events.push(event);
    onEvent?.(event);
  }
  const text = events.map((each) => (each.type === 'message_delta' ? each.text : '')).join('');
  return { events, text, end: events.at(-1), sessionFolder: prepared.sessionFolder };
}
