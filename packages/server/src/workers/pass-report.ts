import { readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Clock } from '../ports/clock.ts';
import { hasCode } from '../runtime/error-code.ts';
import type { PassState } from './pass-record.ts';

/** In the data folder. */
const fileName = 'passes.json';

const passSchema = z.object({
  name: z.string(),
  every_ms: z.number(),
  running_since: z.number().nullable(),
  last_started_at: z.number().nullable(),
  last_succeeded_at: z.number().nullable(),
  last_duration_ms: z.number().nullable(),
  failures_in_a_row: z.number(),
  last_error: z.string().nullable(),
});

const reportSchema = z.object({
  started_at: z.number(),
  written_at: z.number(),
  is_stopped: z.boolean(),
  passes: z.array(passSchema),
});

export type ReportedPass = z.infer<typeof passSchema>;
export type ReportedPasses = z.infer<typeof reportSchema>;

/**
 * Writes the state of all passes into the data folder for `convoke doctor`. A file rather than a request to
 * `/metrics`: it needs neither a token nor an address, works for every role, and can hold error messages.
 */
export class PassReport {
  readonly #path: string;
  readonly #clock: Clock;
  readonly #states: () => readonly PassState[];
  readonly #startedAt: number;

  constructor(dataDir: string, clock: Clock, states: () => readonly PassState[]) {
    this.#path = join(dataDir, fileName);
    this.#clock = clock;
    this.#states = states;
    this.#startedAt = clock.now();
  }

  async write({ isStopped = false } = {}): Promise<false> {
    const report: ReportedPasses = {
      started_at: this.#startedAt,
      written_at: this.#clock.now(),
      is_stopped: isStopped,
      passes: this.#states().map(reported),
    };
    // Readers see the old report or the new one, never half of one. One process holds the folder, so one draft.
    const draft = `${this.#path}.new`;
    await writeFile(draft, `${JSON.stringify(report, null, 2)}\n`, { mode: 0o600 });
    await rename(draft, this.#path);
    return false;
  }
}

function reported(state: PassState): ReportedPass {
  return {
    name: state.name,
    every_ms: state.everyMs,
    running_since: state.runningSince,
    last_started_at: state.lastStartedAt,
    last_succeeded_at: state.lastSucceededAt,
    last_duration_ms: state.lastDurationMs,
    failures_in_a_row: state.failuresInARow,
    last_error: state.lastError,
  };
}

/** The latest report of the folder's server, and the time of this machine at which it was written. */
export async function readPassReport(
  dataDir: string,
): Promise<{ readonly report: ReportedPasses; readonly modifiedAt: number } | undefined> {
  const path = join(dataDir, fileName);
  try {
    const { mtimeMs } = await stat(path);
    const report = reportSchema.parse(JSON.parse(await readFile(path, 'utf8')));
    return { report, modifiedAt: mtimeMs };
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}
