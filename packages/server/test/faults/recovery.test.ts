import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type RunEvent, RunText } from '@convoke/contract';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createLocation, databaseKinds } from '../support/databases.ts';
import { type EffectServer, startEffectServer } from '../support/effect-server.ts';
import { until } from '../support/eventually.ts';
import { type ModelServer, startModelServer } from '../support/model-server/server.ts';
import { Caller } from './support/caller.ts';
import { RawEventReader } from './support/raw-event-reader.ts';
import { checkLog } from './support/run-log.ts';
import { type AgentFolder, createServerFolder } from './support/server-folder.ts';
import { ServerProcess } from './support/server-process.ts';

const words = Array.from({ length: 60 }, (_, index) => `word-${index} `).join('');
const whole = `First. ${words}Done.`;
/** Longer than any test: the server is killed while the tool waits after its effect. */
const longMs = 600_000;

const agents: Readonly<Record<string, AgentFolder>> = {
  teller: {
    script: [{ say: 'First. ' }, { say: { text: words, every_ms: 40 } }, { say: 'Done.' }],
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

describe.each(databaseKinds)('a server on %s that is killed (kill -9) under a run', (kind) => {
  const model = useModel();
  async function open() {
    const url = kind === 'sqlite' ? {} : { CONVOKE_DATABASE_URL: await createLocation(kind) };
    const settings = { ...url, CONVOKE_RECOVERY: 'resume', CONVOKE_LEASE_SECONDS: '3' };
    const folder = await createServerFolder({ agents: { ...agents, ...model.agents() }, settings });
    const server = await ServerProcess.start(folder);
    onTestFinished(async () => {
      await server.kill();
      folder.remove();
    });
    return { folder, server, caller: await Caller.open(folder) };
  }

  test('has it go on from its last recovery point, and every reader joins the same answer (D-87)', async () => {
    const { folder, server, caller } = await open();
    const session = await caller.openSession('teller');
    const run = await caller.startRun(session.id, 'go');
    const at = { sessionId: session.id, runId: run.id };
    const reader = new RawEventReader({ port: folder.port, caller, at });
    const reading = reader.read();
    await until(() => reader.frames.length > 10, { withinMs: 30_000, what: 'words' });
    await server.kill();
    await reading;

    const next = await ServerProcess.start(folder);
    onTestFinished(() => next.kill().then(() => undefined));
    await until(async () => (await caller.run(at)).status === 'completed', {
      withinMs: 60_000,
      what: 'end of the run',
    });
    const ended = await caller.run(at);
    const again = new RawEventReader({ port: folder.port, caller, at });
    await again.read();
    const events = checkLog(ended, again.frames);
    expect(again.frames.slice(0, reader.frames.length)).toEqual(reader.frames);
    expect(ended).toMatchObject({ output_text: whole, attempt: 2 });
    expect(joined(events)).toBe(whole);
    const types = events.map(({ type }) => type).filter((type) => type !== 'message_delta');
    expect(types).toEqual(['run_started', 'run_interrupted', 'run_resumed', 'run_completed']);
    expect(events.at(-1)?.data).toMatchObject({ recovered: true });
    // The first step was over: it is not said again.
    const said = events.filter(({ data }) => data['text'] === 'First. ');
    expect(said).toHaveLength(1);
  });

  test('asks a person about the call that was running, and repeats nothing by itself (D-83)', async () => {
    const { folder, server, caller } = await open();
    const session = await caller.openSession('payer');
    const run = await caller.startRun(session.id, 'go');
    const at = { sessionId: session.id, runId: run.id };
    const ledger = await until(() => ledgerIn(folder.dataDir), {
      withinMs: 30_000,
      what: 'effect',
    });
    await server.kill();

    const next = await ServerProcess.start(folder);
    onTestFinished(() => next.kill().then(() => undefined));
    await until(async () => (await caller.run(at)).status === 'waiting', {
      withinMs: 60_000,
      what: 'question',
    });
    const [question] = await caller.interactions(session.id);
    expect(question).toMatchObject({
      kind: 'question',
      request_id: 'in-doubt:step-1',
      about: { kind: 'call_in_doubt', tool_name: 'append_file' },
    });
    await caller.answer(session.id, question?.interaction_key ?? '', { answer: 'It was done' });
    await until(async () => (await caller.run(at)).status === 'completed', {
      withinMs: 30_000,
      what: 'end of the run',
    });
    expect(readFileSync(ledger, 'utf8')).toBe('paid\n');
    expect((await caller.run(at)).output_text).toBe('Paying. Paid.');
  });

  test('has an `ai-sdk` run ask about the call that was running, and go on (D-83, D-85)', async () => {
    const { folder, server, caller } = await open();
    const session = await caller.openSession('clerk');
    const prompt = '@@ say Paying. && call effects__pay {} ;; say Paid.';
    const run = await caller.startRun(session.id, prompt);
    const at = { sessionId: session.id, runId: run.id };
    await model.hasPaid();
    await server.kill();

    const next = await ServerProcess.start(folder);
    onTestFinished(() => next.kill().then(() => undefined));
    await until(async () => (await caller.run(at)).status === 'waiting', {
      withinMs: 60_000,
      what: 'question',
    });
    const [question] = await caller.interactions(session.id);
    expect(question).toMatchObject({
      request_id: 'in-doubt:call-1-1',
      about: { kind: 'call_in_doubt', tool_name: 'effects/pay' },
    });
    await caller.answer(session.id, question?.interaction_key ?? '', { answer: 'It was done' });
    await until(async () => (await caller.run(at)).status === 'completed', {
      withinMs: 60_000,
      what: 'end of the run',
    });
    const ended = await caller.run(at);
    expect(ended).toMatchObject({ output_text: 'Paying.\n\nPaid.', attempt: 2 });
    expect(ended.usage).toEqual({ input_tokens: 200, output_tokens: 20 });
    expect(model.effects()).toEqual([{ tool: 'pay', key: `${run.id}.call-1-1` }]);
    const reader = new RawEventReader({ port: folder.port, caller, at });
    await reader.read();
    expect(joined(checkLog(ended, reader.frames))).toBe('Paying.\n\nPaid.');
  }, 180_000);
});

/** A model and a tool server outside the killed server; a call of the tool has its effect and does not return. */
function useModel() {
  let parts: { readonly model: ModelServer; readonly outside: EffectServer };
  let paid: PromiseWithResolvers<void>;
  beforeEach(async () => {
    parts = { model: await startModelServer(), outside: await startEffectServer() };
    paid = Promise.withResolvers<void>();
    parts.outside.onMoment = (moment) => {
      if (moment === 'before the effect') return;
      paid.resolve();
      return new Promise<void>(() => {});
    };
  });
  afterEach(async () => {
    parts.outside.close();
    await parts.model.close();
  });
  return {
    agents: (): Readonly<Record<string, AgentFolder>> => ({
      clerk: {
        framework: 'ai-sdk',
        model: 'openai-compatible/scripted',
        env: { BASE_URL: `${parts.model.url}/v1` },
        mcp_servers: { effects: { url: parts.outside.url } },
      },
    }),
    hasPaid: () => paid.promise,
    effects: () => parts.outside.effects,
  };
}

/** The answer as a reader joins it. */
function joined(events: readonly RunEvent[]): string {
  const text = new RunText();
  for (const event of events) text.take(event);
  return text.text;
}

/** The file that the tool appends to, in whichever session folder it is. */
function ledgerIn(dataDir: string): string | undefined {
  const folders = join(dataDir, 'workspaces');
  if (!existsSync(folders)) return undefined;
  const names = readdirSync(folders, { recursive: true, encoding: 'utf8' });
  const name = names.find((path) => path.endsWith('/ledger.txt'));
  return name === undefined ? undefined : join(folders, name);
}
