import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sessionId, tenantId } from '@convoke/contract';
import { describe, expect, test } from 'vitest';
import { snapshotKey } from '../../src/app/files/blob-keys.ts';
import { StorageUnavailable } from '../../src/ports/errors.ts';
import type { Store, StoreTransaction } from '../../src/ports/store.ts';
import {
  answer,
  at,
  begin,
  ended,
  follow,
  logOf,
  openSession,
  pendingIn,
  readRun,
  runIn,
  startRun,
  textOf,
} from '../support/api-steps.ts';
import { databaseKinds } from '../support/databases.ts';
import { Puppet } from '../support/puppet-harness.ts';
import { startServer } from '../support/server.ts';

/**
 * Commits and then loses the answer: the caller has to read the database to learn the outcome, and no wake-up is sent
 * (D-321).
 */
class ForgetfulStore {
  forgets:
    | 'never'
    | 'every other'
    | 'every'
    | 'the next claim'
    | 'the next start'
    | 'the next end'
    | 'the next' = 'never';
  /** Rolls the next start or end back and loses the answer. */
  undoes: 'nothing' | 'isStart' | 'isEnd' = 'nothing';
  forgotten = 0;
  #commits = 0;

  wrap = (store: Store): Store => ({
    ...store,
    transaction: async (work) => {
      const effects: (() => void)[] = [];
      const seen: Seen = { isClaim: false, isStart: false, isEnd: false };
      const result = await store.transaction(async (tx) => {
        effects.length = 0;
        const made = await work(keepingEffects(noticing(tx, seen), effects));
        if (this.undoes !== 'nothing' && seen[this.undoes]) {
          this.undoes = 'nothing';
          throw new StorageUnavailable('the connection was lost before the commit');
        }
        return made;
      });
      this.#commits += 1;
      if (!this.#isForgotten(seen)) {
        for (const effect of effects) effect();
        return result;
      }
      this.forgotten += 1;
      throw new StorageUnavailable('the connection was lost during a commit');
    },
  });

  #isForgotten({ isClaim, isStart, isEnd }: Seen): boolean {
    if (this.forgets === 'every' || this.forgets === 'never') return this.forgets === 'every';
    if (this.forgets === 'every other') return this.#commits % 2 === 1;
    const isIt = {
      'the next': true,
      'the next claim': isClaim,
      'the next start': isStart,
      'the next end': isEnd,
    };
    if (!isIt[this.forgets]) return false;
    this.forgets = 'never';
    return true;
  }
}

interface Seen {
  isClaim: boolean;
  isStart: boolean;
  isEnd: boolean;
}

/** Only claiming a run locks its session without waiting; only starting one inserts it. */
function noticing(tx: StoreTransaction, seen: Seen): StoreTransaction {
  const runs: StoreTransaction['runs'] = {
    ...tx.runs,
    insert: (...which) => {
      seen.isStart = true;
      return tx.runs.insert(...which);
    },
    save: (next, ...which) => {
      if (next.endedAt !== null) seen.isEnd = true;
      tx.runs.save(next, ...which);
    },
  };
  const sessions: StoreTransaction['sessions'] = {
    ...tx.sessions,
    tryLock: (...which) => {
      seen.isClaim = true;
      return tx.sessions.tryLock(...which);
    },
  };
  return new Proxy(tx, {
    get: (target, name) => {
      if (name === 'sessions') return sessions;
      return name === 'runs' ? runs : (Reflect.get(target, name, target) as unknown);
    },
  });
}

function keepingEffects(tx: StoreTransaction, effects: (() => void)[]): StoreTransaction {
  const onCommit = (effect: () => void) => void effects.push(effect);
  return new Proxy(tx, {
    get: (target, name) =>
      name === 'onCommit' ? onCommit : (Reflect.get(target, name, target) as unknown),
  });
}

describe.each(databaseKinds)('a commit whose answer is lost, on %s', (database) => {
  async function forgetfulServer(env: Record<string, string> = {}) {
    const storage = new ForgetfulStore();
    const puppet = new Puppet();
    const server = await startServer({
      database,
      harnesses: [puppet],
      agents: { puppet: puppet.agent() },
      wrapStore: storage.wrap,
      expectsFaults: true,
      env,
    });
    return { storage, puppet, server };
  }

  test('is not made twice: no event is repeated, nothing is asked again', async () => {
    const { storage, puppet, server } = await forgetfulServer();
    const { session, run } = await begin(server, 'puppet');
    const first = await puppet.leg();
    const reader = await follow(server, run);
    await reader.until('run_started');

    storage.forgets = 'every other';
    const words = Array.from({ length: 6 }, (_, index) => `word${index} `);
    for (const word of words) {
      first.say(word);
      for await (const { data } of reader) if (data.data['text'] === word) break;
    }
    first.emit({ type: 'user_question', ref: 'q', question: 'Which?' });
    first.emit({ type: 'checkpoint', state: { at: 1 } });
    first.end('waiting');
    await runIn(server, run, 'waiting');
    const asked = await pendingIn(server, session.id);
    storage.forgets = 'never';
    await answer(server, asked, { answer: 'this one' });

    const second = await puppet.leg();
    storage.forgets = 'every other';
    second.say('done');
    second.end();
    expect(await ended(server, run)).toMatchObject({ status: 'completed' });
    storage.forgets = 'never';

    const log = await logOf(server, run);
    expect(textOf(log)).toBe(`${words.join('')}done`);
    expect(log.map(({ type }) => type).filter((type) => type !== 'message_delta')).toEqual([
      'run_started',
      'user_question',
      'user_answered',
      'run_resumed',
      'run_completed',
    ]);
    expect(storage.forgotten).toBeGreaterThan(3);
  });

  const body = { input: { prompt: 'hello' }, idempotency_key: 'once' };

  test('a run that was started is executed, once, with its session or in a new one', async () => {
    const { storage, puppet, server } = await forgetfulServer();
    const params = { session_id: (await openSession(server, 'puppet')).id };
    const invoke = { params: { agent_name: 'puppet' }, body };
    const starts = [
      {
        lose: () => server.refused('start_run', { params, body }),
        repeat: () => server.send('start_run', { params, body }),
      },
      {
        lose: () => server.refused('invoke_agent', invoke),
        repeat: () => server.stream('/v1/agents/puppet/runs', { method: 'POST', body }),
      },
    ];
    for (const { lose, repeat } of starts) {
      storage.forgets = 'the next start';
      expect((await lose()).status).toBe(503);
      const leg = await puppet.leg();
      const { headers } = await repeat();
      expect(headers.get('idempotency-replayed')).toBe('true');
      leg.end();
      const run = { id: leg.context.runId, session_id: leg.context.sessionId };
      expect(await ended(server, run)).toMatchObject({ status: 'completed', attempt: 1 });
      const log = await logOf(server, run);
      expect(log.map(({ type }) => type)).toEqual(['run_started', 'run_completed']);
    }
    expect(storage.forgotten).toBe(2);
  });

  test('a run that was not kept leaves its slot to the next one', async () => {
    const { storage, puppet, server } = await forgetfulServer({ CONVOKE_RUN_CONCURRENCY: '1' });
    const params = { session_id: (await openSession(server, 'puppet')).id };
    storage.undoes = 'isStart';
    expect((await server.refused('start_run', { params, body })).status).toBe(503);
    const { body: run } = await server.send('start_run', { params, body });
    (await puppet.leg()).end();
    expect(await ended(server, run)).toMatchObject({ status: 'completed', attempt: 1 });
  });

  test.each(['kept', 'not kept'])(
    'the end of a run begins the next one of its session, once: an end that was %s',
    async (which) => {
      const { storage, puppet, server } = await forgetfulServer();
      const { session, run } = await begin(server, 'puppet');
      const first = await puppet.leg();
      const next = await startRun(server, session, 'next');
      expect(next).toMatchObject({ status: 'queued' });
      if (which === 'kept') storage.forgets = 'the next end';
      else storage.undoes = 'isEnd';
      first.end();

      const second = await puppet.leg();
      expect(second.context.prompt).toBe('next');
      second.end();
      for (const each of [run, next]) {
        expect(await ended(server, each)).toMatchObject({ status: 'completed', attempt: 1 });
        const log = await logOf(server, each);
        expect(log.map(({ type }) => type)).toEqual(['run_started', 'run_completed']);
      }
      expect(storage.forgotten).toBe(which === 'kept' ? 1 : 0);
    },
  );

  test('a claim is remembered with the answers it took: the run continues, and is not lost', async () => {
    const { storage, puppet, server } = await forgetfulServer();
    const { session, run } = await begin(server, 'puppet');
    const first = await puppet.leg();
    first.emit({ type: 'user_question', ref: 'q', question: 'Which?' });
    first.emit({ type: 'checkpoint', state: { at: 1 } });
    first.end('waiting');
    await runIn(server, run, 'waiting');
    const asked = await pendingIn(server, session.id);
    storage.forgets = 'the next claim';
    await answer(server, asked, { answer: 'this one' });

    const second = await puppet.leg();
    expect(second.input).toMatchObject({
      kind: 'resume',
      answers: new Map([['q', { kind: 'question', values: ['this one'] }]]),
    });
    second.end();
    expect(await ended(server, run)).toMatchObject({ status: 'completed' });
    expect(storage.forgotten).toBe(1);
  });

  test('a leg that ends waiting without an event keeps its run, and the snapshot of its folder', async () => {
    const { storage, puppet, server } = await forgetfulServer();
    const { session, run } = await begin(server, 'puppet');
    const first = await puppet.leg();
    first.emit({ type: 'user_question', ref: 'q', question: 'Which?' });
    first.emit({ type: 'checkpoint', state: { at: 1 } });
    const asked = await pendingIn(server, session.id);
    await writeFile(join(first.context.sessionFolder, 'note.txt'), 'written before the question');
    const { sessions } = server.convoke.services.store.read;
    await expect
      .poll(async () => (await sessions.state(sessionId(session.id))).checkpoint)
      .not.toBe(null);
    storage.forgets = 'the next';
    first.end('waiting');
    await expect.poll(() => storage.forgotten).toBe(1);
    await answer(server, asked, { answer: 'this one' });

    const second = await puppet.leg();
    second.end();
    expect(await ended(server, run)).toMatchObject({ status: 'completed' });
    const { snapshot } = await sessions.state(sessionId(session.id));
    const owner = {
      tenantId: tenantId(server.quickstart.tenant_id),
      sessionId: sessionId(session.id),
    };
    const key = snapshotKey(owner, snapshot);
    // A single machine has no snapshots; several find the folder's files in this one.
    expect(key === undefined).toBe(database === 'sqlite');
    if (key === undefined) return;
    const archive = await server.convoke.services.blobs.read(key);
    let bytes = 0;
    for await (const chunk of archive ?? []) bytes += chunk.length;
    expect(bytes).toBeGreaterThan(0);
  });

  test('a cancel reaches the agent when it is asked for again', async () => {
    const { storage, puppet, server } = await forgetfulServer();
    const { run } = await begin(server, 'puppet');
    await puppet.leg();
    storage.forgets = 'every';
    expect((await server.refused('cancel_run', { params: at(run) })).status).toBe(503);
    storage.forgets = 'never';
    expect((await readRun(server, run)).status).toBe('cancelling');
    await server.send('cancel_run', { params: at(run) });
    expect(await ended(server, run)).toMatchObject({ status: 'cancelled' });
  });
});
