import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { RunEvent, RunRecord } from '@convoke/contract';
import { describe, expect, test } from 'vitest';
import { doubtOptions } from '../../src/domain/run/call-in-doubt.ts';
import { createLocation, databaseKinds } from '../support/databases.ts';
import { startEffectServer } from '../support/effect-server.ts';
import { until } from '../support/eventually.ts';
import { startModelServer } from '../support/model-server/server.ts';
import { Caller, type RunAt } from './support/caller.ts';
import { RawEventReader } from './support/raw-event-reader.ts';
import { allDeltas, checkLog, saidIn } from './support/run-log.ts';
import {
  type AgentFolder,
  type ServerFolder,
  createServerFolder,
} from './support/server-folder.ts';
import { ServerProcess } from './support/server-process.ts';

const words = Array.from({ length: 60 }, (_, index) => `word-${index} `).join('');
const whole = `First. ${words}Done.`;
/** Longer than any test: the server is killed while the tool waits after its effect. */
const longMs = 600_000;
const withinMs = 120_000;

const agents: Readonly<Record<string, AgentFolder>> = {
  teller: {
    script: [{ say: 'First. ' }, { say: { text: words, every_ms: 80 } }, { say: 'Done.' }],
  },
  payer: {
    script: [
      { say: 'Paying. ' },
      {
        tool: {
          name: 'append_file',
          input: { path: 'ledger.txt', text: 'paid\n', after_ms: longMs },
        },
      },
      { say: 'Paid.' },
    ],
  },
};

describe.concurrent.each(databaseKinds)(
  'a server on %s that is killed (kill -9) under its runs',
  (kind) => {
    test('has each continue from its last recovery point, asks about the calls that were running, and repeats nothing', {
      timeout: 480_000,
    }, async ({ onTestFinished }) => {
      const model = await openModel(onTestFinished);
      const url = kind === 'sqlite' ? {} : { CONVOKE_DATABASE_URL: await createLocation(kind) };
      // Long enough that a busy machine does not take the lease of a server that lives.
      const settings = { ...url, CONVOKE_LEASE_SECONDS: '8' };
      const folder = await createServerFolder({ agents: { ...agents, ...model.agents }, settings });
      const server = await ServerProcess.start(folder);
      onTestFinished(async () => {
        await server.kill();
        folder.remove();
      });
      const caller = await Caller.open(folder);
      const payer = await start(caller, 'payer', 'go');
      const clerk = await start(
        caller,
        'clerk',
        '@@ say Paying. && call effects__pay {} ;; say Paid.',
      );
      const ledger = await until(() => ledgerIn(folder.dataDir), { withinMs, what: 'effect' });
      await model.hasPaid;
      const teller = await start(caller, 'teller', 'go');
      const reader = new RawEventReader({ port: folder.port, caller, at: teller });
      const reading = reader.read();
      await until(() => reader.frames.length > 10, { withinMs, what: 'words' });
      await server.kill();
      await reading;

      const next = await ServerProcess.start(folder);
      onTestFinished(() => next.kill().then(() => undefined));
      const world = { folder, caller };
      await checkTeller(world, teller, reader);
      const paid = await settle(world, payer, { ref: 'step-1', tool_name: 'append_file' });
      expect(readFileSync(ledger, 'utf8')).toBe('paid\n');
      expect(paid.output_text).toBe('Paying. Paid.');

      const booked = await settle(world, clerk, { ref: 'call-1-1', tool_name: 'effects/pay' });
      expect(booked).toMatchObject({ output_text: 'Paying.\n\nPaid.', attempt: 2 });
      expect(booked.usage).toEqual({ input_tokens: 200, output_tokens: 20 });
      expect(model.effects).toEqual([{ tool: 'pay', key: `${clerk.runId}.call-1-1` }]);
      expect(saidIn(await eventsOf(world, clerk))).toBe('Paying.\n\nPaid.');
    });
  },
);

interface World {
  readonly folder: ServerFolder;
  readonly caller: Caller;
}

async function start(caller: Caller, agentName: string, prompt: string): Promise<RunAt> {
  const { id: sessionId } = await caller.openSession(agentName);
  return { sessionId, runId: (await caller.startRun(sessionId, prompt)).id };
}

function reaches({ caller }: World, at: RunAt, status: RunRecord['status']): Promise<RunRecord> {
  let last: RunRecord | undefined;
  return until(
    async () => {
      last = await caller.run(at);
      return last.status === status && last;
    },
    { withinMs, what: () => `run that is ${status}: ${JSON.stringify(last)}` },
  );
}

/** The whole log of a run that has ended, read again. */
async function eventsOf({ folder, caller }: World, at: RunAt): Promise<RunEvent[]> {
  const again = new RawEventReader({ port: folder.port, caller, at });
  await again.read();
  return checkLog(await caller.run(at), again.frames);
}

/** D-87: every reader joins the same answer, also one that knows no interruption: no word is said again. */
async function checkTeller(world: World, at: RunAt, reader: RawEventReader): Promise<void> {
  const ended = await reaches(world, at, 'completed');
  expect(ended).toMatchObject({ output_text: whole, attempt: 2 });
  const again = new RawEventReader({ port: world.folder.port, caller: world.caller, at });
  await again.read();
  expect(again.frames.slice(0, reader.frames.length)).toEqual(reader.frames);
  const events = checkLog(ended, again.frames);
  expect(saidIn(events)).toBe(whole);
  const types = events.map(({ type }) => type).filter((type) => type !== 'message_delta');
  expect(types).toEqual(['run_started', 'run_interrupted', 'run_resumed', 'run_completed']);
  expect(events.at(-1)?.data).toMatchObject({ recovered: true });
  expect(allDeltas(events)).toBe(whole);
}

/** D-83: answers the question about the call that was running, and returns the run when it has ended. */
async function settle(
  world: World,
  at: RunAt,
  { ref, tool_name }: { readonly ref: string; readonly tool_name: string },
): Promise<RunRecord> {
  await reaches(world, at, 'waiting');
  const [question] = await world.caller.interactions(at.sessionId);
  expect(question).toMatchObject({
    kind: 'question',
    request_id: `in-doubt:${ref}`,
    about: { kind: 'call_in_doubt', tool_name },
  });
  const key = question?.interaction_key ?? '';
  await world.caller.answer(at.sessionId, key, { answer: doubtOptions.done.label });
  return reaches(world, at, 'completed');
}

/** A model and a tool server outside the killed server; a call of the tool has its effect and does not return. */
async function openModel(onTestFinished: (close: () => Promise<void>) => void) {
  const model = await startModelServer();
  const outside = await startEffectServer();
  onTestFinished(async () => {
    outside.close();
    await model.close();
  });
  const paid = Promise.withResolvers<void>();
  outside.onMoment = (moment) => {
    if (moment === 'before the effect') return;
    paid.resolve();
    return new Promise<void>(() => {});
  };
  const clerk = {
    framework: 'ai-sdk',
    model: 'openai-compatible/scripted',
    env: { BASE_URL: `${model.url}/v1` },
    mcp_servers: { effects: { url: outside.url } },
  };
  return { agents: { clerk }, hasPaid: paid.promise, effects: outside.effects };
}

/** The file that the tool appends to, in whichever session folder it is. */
function ledgerIn(dataDir: string): string | undefined {
  const folders = join(dataDir, 'workspaces');
  if (!existsSync(folders)) return undefined;
  const names = readdirSync(folders, { recursive: true, encoding: 'utf8' });
  const name = names.find((path) => path.endsWith('/ledger.txt'));
  return name === undefined ? undefined : join(folders, name);
}
