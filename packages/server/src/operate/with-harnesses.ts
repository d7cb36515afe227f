import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { builtHarnesses } from '../compose/services.ts';
import type { Config } from '../config/config.ts';
import type { ShowOutput } from '../harness/stdio/shown-output.ts';
import type { Clock } from '../ports/clock.ts';
import type { Harness } from '../ports/harness.ts';
import type { Log } from '../ports/log.ts';
import type { Sandbox } from '../ports/sandbox.ts';
import { systemClock } from '../runtime/clock.ts';
import { openSandbox } from '../sandbox/sandbox.ts';
import { createLog } from '../telemetry/log.ts';

/** What agents run on, without a server. */
export interface OpenHarnesses {
  readonly harnesses: ReadonlyMap<string, Harness>;
  readonly sandbox: Sandbox;
  readonly clock: Clock;
  readonly log: Log;
  /** A folder that exists as long as they are open. */
  readonly dataDir: string;
}

/** Uses a temporary folder: the sandbox of a running server keeps its files in the data folder. */
export async function withHarnesses<T>(
  config: Pick<Config, 'a2aAllow' | 'sandbox'>,
  work: (open: OpenHarnesses) => Promise<T>,
  showOutput?: ShowOutput,
): Promise<T> {
  const dataDir = await mkdtemp(join(tmpdir(), 'convoke-'));
  const parts = {
    clock: systemClock,
    log: createLog({ level: 'silent' }),
    a2aAllow: config.a2aAllow,
  };
  try {
    const sandbox = await openSandbox({ ...parts, mode: config.sandbox, dataDir });
    try {
      const built = builtHarnesses({ ...parts, sandbox, showOutput });
      const harnesses = new Map(built.map((harness) => [harness.framework, harness]));
      return await work({ ...parts, harnesses, sandbox, dataDir });
    } finally {
      await sandbox.close();
    }
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}
