import { runId } from '@convoke/contract';
import { beforeAll, expect, test } from 'vitest';
import { ended, openSession, startRun } from '../../support/api-steps.ts';
import { type TestServer, startServer } from '../../support/server.ts';

let server: TestServer;
let path: string;
/** A session with a run whose events were deleted, as after their retention (D-245). */
beforeAll(async () => {
  server = await startServer();
  const session = await openSession(server, 'echo');
  const run = await startRun(server, session, 'hello');
  await ended(server, run);
  path = `/v1/sessions/${session.id}`;
  await server.convoke.services.store.transaction((tx) =>
    tx.runEvents.forget(runId(run.id), Number.MAX_SAFE_INTEGER, 100),
  );
});

const agUi = { threadId: 't', runId: 'r', state: {}, messages: [], tools: [], context: [] };

test.each([
  ['a chat of the AI SDK', () => server.call('GET', `${path}/ai-sdk/c/stream`)],
  ['a history of the AI SDK', () => server.call('GET', `${path}/ai-sdk/messages`)],
  ['AG-UI', () => server.call('POST', `${path}/ag-ui`, { body: agUi })],
] as const)('%s shows the text of a run whose events were deleted (D-195)', async (_, open) => {
  const { status, text } = await open();
  expect(status).toBe(200);
  expect(text.split('hello (run 1)')).toHaveLength(2);
  expect(text).toContain('"truncated":true');
  expect(text).toContain('"status":"completed"');
});
