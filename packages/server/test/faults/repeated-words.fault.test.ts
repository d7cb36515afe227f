import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunEvent } from '@convoke/contract';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { requireSandbox } from '../../../../test/services.ts';
import { until } from '../support/eventually.ts';
import { createDatabase } from '../support/postgres-databases.ts';
import { Caller } from './support/caller.ts';
import { RawEventReader } from './support/raw-event-reader.ts';
import { allDeltas, checkLog, saidIn } from './support/run-log.ts';
import { createServerFolder } from './support/server-folder.ts';
import { ServerProcess } from './support/server-process.ts';

const minute = 60_000;
const words = Array.from({ length: 20 }, (_, index) => `word${index + 1} `);
const saidBefore = 7;

/**
 * Stops in the middle of its second step until its server is gone. After that it continues, with other words if it is
 * told to.
 */
const program = `
import { existsSync, writeFileSync } from 'node:fs';
import { agent } from '@convoke/agent';
const words = ${JSON.stringify(words)};
export default agent(async (ctx) => {
  await ctx.stream('first', async function* () { yield 'First step. '; });
  const isAgain = existsSync('begun');
  writeFileSync('begun', '');
  await ctx.stream('second', async function* () {
    for (const [at, word] of words.entries()) {
      if (at === ${saidBefore} && !isAgain) await new Promise(() => setInterval(() => {}, 1000));
      yield isAgain && at >= 4 && ctx.prompt === 'change' ? 'other ' : word;
    }
  });
  return 'End.';
});
`;

beforeAll(() => requireSandbox());

/** Runs the agent on a server that is ended in the middle of a step, and to its end on the next one. */
async function interrupted(
  prompt: string,
  { kind, signal }: { readonly kind: string; readonly signal: 'SIGKILL' | 'SIGTERM' },
): Promise<{ readonly events: readonly RunEvent[]; readonly outputText: string | undefined }> {
  const database = kind === 'postgres' ? await createDatabase() : undefined;
  onTestFinished(() => database?.drop());
  const settings = {
    CONVOKE_DRAIN_SECONDS: '5',
    CONVOKE_LEASE_SECONDS: '5',
    ...(database && { CONVOKE_DATABASE_URL: database.url }),
  };
  const agents = { speaker: { framework: 'code', entry: 'agent.ts' } };
  const folder = await createServerFolder({ agents, settings });
  onTestFinished(() => folder.remove());
  writeFileSync(join(folder.agentsDir, 'speaker/agent.ts'), program);
  const first = await ServerProcess.start(folder);
  onTestFinished(async () => void (await first.kill()));
  const caller = await Caller.open(folder);
  const session = await caller.openSession('speaker');
  const run = await caller.startRun(session.id, prompt);
  const at = { sessionId: session.id, runId: run.id };
  const before = new RawEventReader({ port: folder.port, caller, at });
  const reading = before.read();
  const isHeard = () => before.frames.some(({ text }) => text.includes(`word${saidBefore} `));
  await until(isHeard, { what: 'seventh word' });
  if (signal === 'SIGKILL') await first.kill();
  else first.signal(signal);
  await first.ended;
  await reading;
  const second = await ServerProcess.start(folder);
  onTestFinished(async () => void (await second.kill()));
  await until(async () => (await caller.run(at)).status === 'completed', {
    what: 'end of the run',
  });
  const ended = await caller.run(at);
  const after = new RawEventReader({ port: folder.port, caller, at });
  await after.read();
  return { events: checkLog(ended, after.frames), outputText: ended.output_text };
}

const whole = `First step. ${words.join('')}End.`;

describe.each(['sqlite', 'postgres'])(
  'on %s, an agent as code whose server ends in a step',
  (kind) => {
    test.each(['SIGKILL', 'SIGTERM'] as const)(
      'by %s says no word twice: all deltas join to the answer (D-473)',
      { timeout: 10 * minute },
      async (signal) => {
        const { events, outputText } = await interrupted('go', { kind, signal });
        expect({ outputText, heard: allDeltas(events) }).toEqual({
          outputText: whole,
          heard: whole,
        });
        expect(events.filter(({ type }) => type === 'run_interrupted')).toHaveLength(1);
      },
    );
  },
);

test('what an agent says otherwise after a loss is taken back from the first delta that differs', {
  timeout: 10 * minute,
}, async () => {
  const { events, outputText } = await interrupted('change', { kind: 'sqlite', signal: 'SIGKILL' });
  const changed = `First step. ${words.slice(0, 4).join('')}${'other '.repeat(16)}End.`;
  expect({ outputText, said: saidIn(events) }).toEqual({ outputText: changed, said: changed });
  const cut = words.slice(4, saidBefore).join('');
  const heard = changed.replace('other ', `${cut}\n\n(interrupted, resuming)\n\nother `);
  expect(allDeltas(events)).toBe(heard);
});
