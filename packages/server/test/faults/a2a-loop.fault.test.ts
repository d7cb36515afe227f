import type { RunEvent, RunRecord } from '@convoke/contract';
import { describe, expect, test } from 'vitest';
import { createLocation, databaseKinds } from '../support/databases.ts';
import { until } from '../support/eventually.ts';
import { Caller, type RunAt, expected } from './support/caller.ts';
import { allDeltas } from './support/run-log.ts';
import { type ServerFolder, createServerFolder, readQuickstart } from './support/server-folder.ts';
import { ServerProcess } from './support/server-process.ts';

const words = Array.from({ length: 60 }, (_, index) => `word-${index} `).join('');
const whole = `First. ${words}Done.`;
const withinMs = 120_000;

const publish = ['a2a'];
const published = {
  teller: {
    publish,
    script: [{ say: 'First. ' }, { say: { text: words, every_ms: 150 } }, { say: 'Done.' }],
  },
  asker: {
    publish,
    script: [
      { say: 'Hm. ' },
      { ask: { question: 'Which colour?' } },
      { say: 'You said {{answer}}. ' },
      { ask: { question: 'Which size?' } },
      { say: 'And {{answer}}.' },
    ],
  },
};

type OnTestFinished = (work: () => Promise<void> | void) => void;

async function databaseOf(kind: (typeof databaseKinds)[number]): Promise<Record<string, string>> {
  // Long enough that a busy machine does not take the lease of a server that lives.
  const lease = { CONVOKE_LEASE_SECONDS: '8' };
  if (kind === 'sqlite') return lease;
  return { ...lease, CONVOKE_DATABASE_URL: await createLocation(kind) };
}

/** A server that can be killed and started again. */
class Mortal {
  readonly folder: ServerFolder;
  #server: ServerProcess;

  private constructor(folder: ServerFolder, server: ServerProcess) {
    this.folder = folder;
    this.#server = server;
  }

  static async start(folder: ServerFolder, onTestFinished: OnTestFinished): Promise<Mortal> {
    const mortal = new Mortal(folder, await ServerProcess.start(folder));
    onTestFinished(async () => {
      await mortal.#server.kill();
      folder.remove();
    });
    return mortal;
  }

  async killAndStart(): Promise<void> {
    await this.#server.kill();
    this.#server = await ServerProcess.start(this.folder);
  }
}

async function eventsOf(caller: Caller, { sessionId, runId }: RunAt): Promise<RunEvent[]> {
  const path = `/v1/sessions/${sessionId}/runs/${runId}/events?limit=100`;
  const events: RunEvent[] = [];
  for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; ) {
    isFirst = false;
    const { headers, baseUrl } = caller;
    const more = cursor === undefined ? '' : `&cursor=${cursor}`;
    const response = await fetch(`${baseUrl}${path}${more}`, {
      headers: { ...headers, accept: 'application/json' },
    });
    const page = (await response.json()) as { events: RunEvent[]; next_cursor?: string };
    events.push(...page.events);
    cursor = page.next_cursor;
  }
  return events;
}

async function runsOf(caller: Caller, agent: string): Promise<readonly RunRecord[]> {
  const { runs } = expected(await caller.call('GET', `/v1/runs?agent_name=${agent}`), [200]) as {
    readonly runs: readonly RunRecord[];
  };
  return runs;
}

describe.concurrent.each(databaseKinds)('an a2a agent of one Convoke on %s', (kind) => {
  test('calls a published agent of another: with a kill -9 of each in turn no message arrives twice, and the texts are equal (D-237)', {
    timeout: 480_000,
  }, async ({ onTestFinished }) => {
    const callee = await Mortal.start(
      await createServerFolder({ agents: published, settings: await databaseOf(kind) }),
      onTestFinished,
    );
    const theirs = await Caller.open(callee.folder);
    const { organization_id, tenant_id, client_id, client_secret } = readQuickstart(callee.folder);
    const address = `127.0.0.1:${callee.folder.port}`;
    const remote = (agent: string) => ({
      framework: 'a2a',
      url: `http://${address}/v1/a2a/${organization_id}/${tenant_id}/${agent}`,
      env: { A2A_CLIENT_ID: client_id, A2A_CLIENT_SECRET: '${env:CALLEE_SECRET}' },
    });
    const caller = await Mortal.start(
      await createServerFolder({
        agents: { teller: remote('teller'), asker: remote('asker') },
        settings: {
          ...(await databaseOf(kind)),
          CONVOKE_A2A_ALLOW: address,
          CALLEE_SECRET: client_secret,
        },
      }),
      onTestFinished,
    );
    const ours = await Caller.open(caller.folder);

    const start = async (agent: string): Promise<RunAt> => {
      const { id: sessionId } = await ours.openSession(agent);
      return { sessionId, runId: (await ours.startRun(sessionId, 'go')).id };
    };
    const told = await start('teller');
    const asked = await start('asker');
    const says = (text: string) =>
      until(async () => allDeltas(await eventsOf(ours, told)).includes(text), {
        withinMs,
        what: `"${text}" in the log of the caller`,
      });
    const isAsked = (question: string) =>
      until(
        async () =>
          (await ours.interactions(asked.sessionId)).find((one) => one.question === question),
        { withinMs, what: `question ${question}` },
      );

    await says('word-4 ');
    await isAsked('Which colour?');
    await callee.killAndStart();
    await says('word-14 ');
    await caller.killAndStart();
    await says('word-24 ');
    const { interaction_key: first } = await isAsked('Which colour?');
    await ours.answer(asked.sessionId, first, { answer: 'red' });
    const { interaction_key: second } = await isAsked('Which size?');
    await callee.killAndStart();
    await caller.killAndStart();
    await ours.answer(asked.sessionId, second, { answer: 'large' });

    for (const [at, agent, text] of [
      [told, 'teller', whole],
      [asked, 'asker', 'Hm. You said red. And large.'],
    ] as const) {
      const run = await until(
        async () => {
          const now = await ours.run(at);
          return now.ended_at === undefined ? undefined : now;
        },
        { withinMs, what: `end of the run of ${agent}` },
      );
      expect([run.status, run.error_message, run.output_text]).toEqual([
        'completed',
        undefined,
        text,
      ]);
      expect(allDeltas(await eventsOf(ours, at))).toBe(text);
      const runs = await runsOf(theirs, agent);
      expect(runs).toHaveLength(1);
      const { id: runId = '', session_id: sessionId = '' } = runs[0] ?? {};
      expect((await theirs.run({ sessionId, runId })).output_text).toBe(text);
      const log = await eventsOf(theirs, { sessionId, runId });
      const answers = log.filter(({ type }) => type === 'user_answered');
      expect(answers).toHaveLength(agent === 'asker' ? 2 : 0);
    }
  });
});
