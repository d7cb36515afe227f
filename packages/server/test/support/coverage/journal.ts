import { appendFileSync, mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect } from 'vitest';
import { journalFolder } from './journal-folder.ts';

/** One response of the server, reduced to what coverage needs. */
export interface Observation {
  readonly operation: string;
  readonly status: number;
  /** Of a refusal. */
  readonly code: string | undefined;
}

export interface Witnessed extends Observation {
  /** The test file that saw it. */
  readonly file: string;
}

const written = new Set<string>();

/** Each answer is written once per test file, as soon as it is seen: a test that fails later still saw it. */
export function observe({ operation, status, code }: Observation): void {
  write('seen', `${operation} ${status} ${code ?? '-'} ${testFile()}`);
}

/** Records that the test file ran to its end, so that coverage is checked only when no file was left out. */
export function markFileDone(): void {
  write('done', testFile());
}

function testFile(): string {
  return basename(expect.getState().testPath ?? '');
}

export interface Journal {
  readonly observations: readonly Witnessed[];
  /** Test files that ran to their end. */
  readonly files: ReadonlySet<string>;
}

export function readJournal(folder: string): Journal {
  const lines = readdirSync(folder).flatMap((name) =>
    readFileSync(join(folder, name), 'utf8').split('\n').filter(Boolean),
  );
  const rest = (kind: string) =>
    lines.filter((line) => line.startsWith(`${kind} `)).map((line) => line.slice(kind.length + 1));
  return {
    files: new Set(rest('done')),
    observations: rest('seen').map((line) => {
      const [operation = '', status = '', code = '-', file = ''] = line.split(' ');
      return { operation, status: Number(status), code: code === '-' ? undefined : code, file };
    }),
  };
}

function write(kind: 'seen' | 'done', text: string): void {
  const folder = journalFolder();
  const line = `${kind} ${text}\n`;
  if (folder === undefined || written.has(line)) return;
  written.add(line);
  mkdirSync(folder, { recursive: true });
  appendFileSync(join(folder, `${process.pid}.txt`), line);
}
