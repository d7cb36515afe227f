import type { RunSummary } from '@convoke/sdk';
import { beforeEach, expect, test, vi } from 'vitest';
import { callsShown, printCalls } from '../src/terminal/called-runs.ts';

let stdout: string;
let stderr: string;
beforeEach(() => {
  stdout = '';
  stderr = '';
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => ((stdout += String(text)), true));
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => ((stderr += String(text)), true));
  const { isTTY } = process.stdout;
  process.stdout.isTTY = false;
  return () => {
    process.stdout.isTTY = isTTY;
    vi.restoreAllMocks();
  };
});

function called(id: string, parent: string, more: Partial<RunSummary> = {}): RunSummary {
  const run = {
    id: `run_${id}`,
    session_id: `sess_${id}`,
    agent_name: id,
    status: 'completed',
    preview: 'chairs',
    labels: {},
    parent_run_id: `run_${parent}`,
    pending_interactions: 0,
    created_at: '2026-11-18T10:00:00.000Z',
  } as const;
  return { ...run, ...more };
}

const since = new Date(Date.now() - 2 * 3_600_000 - 1000).toISOString();

test('the runs below a run are a tree, and the row that needs a person says for what', () => {
  const permission = { kind: 'interaction', name: 'fetch_url', since } as const;
  const nap = { kind: 'timer', name: 'nap', since, until: '2026-12-02T10:00:00.000Z' } as const;
  const call = { kind: 'run', name: 'reader', since, child_run_id: 'run_reader' } as const;
  printCalls('run_root', [
    called('researcher', 'root', { status: 'running', waiting_on: [call, nap] }),
    called('critic', 'root'),
    called('reader', 'researcher', { status: 'waiting', waiting_on: [nap, permission] }),
    called('judge', 'critic'),
  ]);
  expect(stdout.split('\n')).toEqual([
    '',
    'CALLED RUN      AGENT         STATUS     WAITS FOR',
    'run_researcher  ├ researcher  running    calls reader, run_reader; sleeping, nap, until 2026-12-02 10:00:00 UTC',
    'run_reader      │ └ reader    waiting    a person (fetch_url) since 2 h; sleeping, nap, until 2026-12-02 10:00:00 UTC',
    'run_critic      └ critic      completed',
    'run_judge         └ judge     completed',
    '',
  ]);
  expect(stderr).toBe('');
});

test('a run that has called none prints nothing about it', () => {
  printCalls('run_root', []);
  expect(stdout + stderr).toBe('');
});

test('names of agents and tools cannot write to the terminal, nor begin a line', () => {
  const evil = { kind: 'interaction', name: 'x\u001b[2J\ny', since } as const;
  printCalls('run_root', [
    called('a', 'root', { agent_name: 'b\u001b[1m\nc', waiting_on: [evil] }),
  ]);
  expect(stdout.split('\n')).toHaveLength(4);
  expect(stdout).not.toContain('\u001b');
});

test('of a large tree the beginning is shown, with the command that lists all of it', () => {
  const many = Array.from({ length: callsShown + 1 }, (_, at) => called(`r${at}`, 'root'));
  printCalls('run_root', many);
  expect(stdout).toContain('└ r99 ');
  expect(stdout).not.toContain('r100');
  expect(stderr).toContain('runs list --below run_root');
});
