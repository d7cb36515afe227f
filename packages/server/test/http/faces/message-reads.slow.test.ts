// What one message of each face asks of the database. It becomes a run that waits for its turn, so that no leg asks for
// more. A message that is new reads no log: there is none (house rule of faces, and what makes a face as cheap as the
// API).
import { randomUUID } from 'node:crypto';
import type { SessionRecord } from '@convoke/contract';
import { beforeAll, expect, test } from 'vitest';
import type { Store } from '../../../src/ports/store.ts';
import { usualAgents } from '../../support/agents.ts';
import { eventsPath, openSession, startRun } from '../../support/api-steps.ts';
import { type TestServer, startServer } from '../../support/server.ts';
import { A2aCalls } from './a2a-calls.ts';

const agents = { sleeper: { ...usualAgents.sleeper, publish: ['a2a'] } };

let server: TestServer;
let asked: string[] = [];
beforeAll(async () => {
  server = await startServer({ agents, wrapStore });
});

/** Notes what is asked with the scope of a tenant: background work asks for all of them. */
function wrapStore(store: Store): Store {
  const noting = <Part extends object>(part: Part, path: string): Part =>
    new Proxy(part, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name, target);
        const own = `${path}${String(name)}`;
        if (typeof member === 'object' && member !== null) return noting(member, `${own}.`);
        if (typeof member !== 'function') return member;
        return (...call: readonly unknown[]) => {
          if (isScope(call[0])) asked.push(own);
          return member.apply(target, call);
        };
      },
    });
  return {
    ...store,
    read: noting(store.read, 'read '),
    transaction: (work) => store.transaction((tx) => work(noting(tx, ''))),
  };
}

const isScope = (value: unknown) =>
  typeof value === 'object' && value !== null && 'tenantId' in value;

/** A session whose run has said its word, and sleeps. */
async function busySession(): Promise<SessionRecord> {
  const session = await openSession(server, 'sleeper');
  const run = await startRun(server, session, 'x');
  const reader = await server.stream(eventsPath(run));
  await reader.until('message_delta');
  reader.close();
  return session;
}

/** Sends a message, and returns what was asked for it. Its stream then follows the log. */
async function askedFor(send: (session: SessionRecord) => Promise<unknown>): Promise<string[]> {
  const session = await busySession();
  asked = [];
  await send(session);
  return asked.filter((name) => name !== 'read runEvents.after');
}

const text = 'hi';
const said = { id: randomUUID(), role: 'user', parts: [{ type: 'text', text }] };
const agUiMessage = { id: randomUUID(), role: 'user', content: text };

/** What one run asks for, whoever starts it. */
const start = ['sessions.lock', 'labels.insert', 'runs.insert', 'sessions.save'];
/**
 * A face also finds the session, claims the key of the message, and asks whether the run in front waits for a person.
 */
const startOfFace = [
  'read sessions.find',
  ...start.toSpliced(1, 0, 'idempotency.claim', 'runs.findById'),
];

test.each([
  ['the API', start, async (session: SessionRecord) => startRun(server, session, text)],
  [
    'A2A',
    startOfFace,
    async ({ id: contextId }: SessionRecord) => {
      const message = { messageId: randomUUID(), contextId, role: 'ROLE_USER', parts: [{ text }] };
      const configuration = { returnImmediately: true };
      await new A2aCalls(server).task({ message, configuration }, { agent: 'sleeper' });
    },
  ],
  [
    'the AI SDK',
    startOfFace,
    async ({ id }: SessionRecord) => open(`/v1/sessions/${id}/ai-sdk`, { messages: [said] }),
  ],
  [
    'AG-UI',
    startOfFace,
    async ({ id }: SessionRecord) =>
      open(`/v1/sessions/${id}/ag-ui`, {
        threadId: randomUUID(),
        runId: randomUUID(),
        messages: [agUiMessage],
      }),
  ],
])('a message of %s asks for no more than its run needs', async (_face, needed, send) => {
  expect(await askedFor(send)).toEqual(needed);
});

async function open(path: string, body: object): Promise<void> {
  const stream = await server.stream(path, { method: 'POST', body });
  stream.close();
}
