// A process of an agent as code is kept for the next run of its session. What it has seen of an account stays in it, so
// it must be gone once the account is another one (D-597, D-961).
import { beforeAll, expect, test } from 'vitest';
import { requireSandbox } from '../../../../test/services.ts';
import { ended, startRun } from '../support/api-steps.ts';
import { type TestServer, startServer } from '../support/server.ts';

/** Keeps every token that it gets where a program can: in its modules, and in what all of them share. */
const program = `import { agent } from '@convoke/agent';
const born = Math.random().toString(36).slice(2);
const seen = new Set();
export default agent(() => {
  globalThis.first ??= process.env.TOKEN ?? 'none';
  seen.add(globalThis.first);
  seen.add(process.env.TOKEN ?? 'none');
  // Redaction would hide it.
  const told = Array.from(seen, (token) => Array.from(token).reverse().join(''));
  return JSON.stringify({ born, told });
});
`;
const tokenOf = (owner: string, version = 1) => `planted-token-of-${owner}-${version}`;
const reversed = (text: string) => Array.from(text).toReversed().join('');

let server: TestServer;
beforeAll(async () => {
  requireSandbox();
  server = await startServer({
    agents: {
      hoarder: {
        framework: 'code',
        connections: { github: { owner: 'end_user', fallback: 'tenant', required: false } },
        env: { TOKEN: '${connection:github}' },
      },
    },
    agentFiles: { 'hoarder/agent.mjs': program },
  });
});

const params = { service: 'github' };
const of = (end_user: string | undefined) => (end_user === undefined ? {} : { end_user });
async function connect(version = 1, end_user?: string): Promise<void> {
  const auth = { type: 'bearer', token: tokenOf(end_user ?? 'the-tenant', version) };
  await server.send('put_connection', { params, body: { ...of(end_user), auth } });
}
async function revoke(end_user?: string): Promise<void> {
  await server.send('delete_connection', { params, query: of(end_user) });
}
async function openFor(end_user: string) {
  return (await server.send('create_session', { body: { agent_name: 'hoarder', end_user } })).body;
}

/** The process that executed the next run of the session, and every token that it has ever seen. */
async function runIn(session: Awaited<ReturnType<typeof openFor>>) {
  const run = await ended(server, await startRun(server, session, 'tell'));
  expect(run.status).toBe('completed');
  const said = JSON.parse(run.output_text ?? '') as { born: string; told: string[] };
  return { born: said.born, seen: said.told.map(reversed) };
}

test('a kept process has seen the account of its own end user as it is now, and no other', async () => {
  await connect(1, 'u-1');
  await connect(1, 'u-2');
  const [one, two] = await Promise.all([openFor('u-1'), openFor('u-2')]);
  const [first, other] = await Promise.all([runIn(one), runIn(two)]);
  expect([first.seen, other.seen]).toEqual([[tokenOf('u-1')], [tokenOf('u-2')]]);
  // It is kept, so what it has in memory would show.
  expect(await Promise.all([runIn(one), runIn(two)])).toEqual([first, other]);

  await connect(2, 'u-1');
  const replaced = await runIn(one);
  expect(replaced.seen).toEqual([tokenOf('u-1', 2)]);
  expect(await runIn(one)).toEqual(replaced);

  await revoke('u-1');
  const without = await runIn(one);
  expect(without.seen).toEqual(['none']);
  await connect(3);
  const ofTenant = await runIn(one);
  expect(ofTenant.seen).toEqual([tokenOf('the-tenant', 3)]);
  await connect(4, 'u-1');
  expect((await runIn(one)).seen).toEqual([tokenOf('u-1', 4)]);
  // All that time the other one was kept, with its own.
  expect(await runIn(two)).toEqual(other);
});

test('another session of the same end user has a process of its own, also after a revocation', async () => {
  await connect(1, 'u-3');
  const session = await openFor('u-3');
  const first = await runIn(session);
  await revoke('u-3');
  await revoke();
  const later = await runIn(await openFor('u-3'));
  expect(later.seen).toEqual(['none']);
  expect(later.born).not.toBe(first.born);
});
