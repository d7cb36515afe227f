import { expect, onTestFinished, test } from 'vitest';
import { ClaudeProcess } from '../../../src/harness/claude/process.ts';
import { SandboxUnavailable } from '../../../src/ports/sandbox.ts';

test('a program that cannot start ends no server, whether or not the SDK still listens', async () => {
  const uncaught: unknown[] = [];
  const note = (error: unknown) => void uncaught.push(error);
  process.on('uncaughtException', note);
  process.on('unhandledRejection', note);
  onTestFinished(() => {
    process.off('uncaughtException', note);
    process.off('unhandledRejection', note);
  });
  const refusal = new SandboxUnavailable('The server is stopping.');
  const program = new ClaudeProcess(() => Promise.reject(refusal));
  await expect(program.started).rejects.toBe(refusal);
  program.stdin.end();
  program.stdin.write('too late');
  program.stdout.destroy(new Error('the reader is gone'));
  // An unhandled rejection is reported after the current turn.
  await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
  expect(uncaught).toEqual([]);
  expect(program.exitCode).toBe(1);
});
