import { readFileSync } from 'node:fs';
import type { TranscriptEvent } from '../src/index.ts';
import type { KnownRun } from './transcript-oracle.ts';

/** The log of one run as a server wrote it, and what the run's row said. */
export interface RunLog extends KnownRun {
  readonly framework: string;
  readonly name: string;
  readonly events: readonly TranscriptEvent[];
}

/** Logs that real servers wrote for agents of every framework, with losses, hand-overs and answers in between. */
export function runLogs(): readonly RunLog[] {
  const lines = readFileSync(new URL('run-logs.jsonl', import.meta.url), 'utf8')
    .trim()
    .split('\n');
  return lines.map((line) => JSON.parse(line) as RunLog);
}
