import { tmpdir } from 'node:os';
import { organizationId } from '@convoke/contract';
import { Convoke, type RunEvent } from '@convoke/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listAudit } from '../../server/src/app/audit.ts';
import { until } from '../../server/test/support/eventually.ts';
import { type TestClient, addClient } from '../../server/test/support/identities.ts';
import type { Puppet, PuppetLeg } from '../../server/test/support/puppet-harness.ts';
import { startPuppetServer } from '../../server/test/support/puppet-server.ts';
import type { TestServer } from '../../server/test/support/server.ts';
import { type CommandLine, createCommandLine, manyProcessesMs } from './command-line.ts';

/** A token lives three to four seconds: long enough for one request on a busy machine. */
const clientTokenSeconds = 4;

describe('a stream that outlives its token', () => {
  let server: TestServer;
  let puppet: Puppet;
  let convoke: CommandLine;
  beforeAll(async () => {
    ({ server, puppet } = await startPuppetServer({ clientTokenSeconds }));
    convoke = await createCommandLine(tmpdir());
  });
  afterAll(() => convoke.remove());

  /** The tokens that a client has obtained. */
  async function tokensOf({ record }: TestClient): Promise<number> {
    const { store } = server.convoke.services;
    const chain = organizationId(server.quickstart.organization_id);
    const rows = await listAudit({ store }, { chain, limit: 1_000 });
    return rows.filter(({ by, action }) => by.id === record.id && action === 'token.issue').length;
  }

  /** Talks until the client has renewed its token twice, then ends. Returns the number of words. */
  async function talk(leg: PuppetLeg, client: TestClient): Promise<number> {
    const before = await tokensOf(client);
    let words = 0;
    await until(
      async () => {
        leg.say(`${(words += 1)} `);
        return (await tokensOf(client)) >= before + 2;
      },
      { withinMs: manyProcessesMs, what: 'renewed token' },
    );
    leg.end();
    return words;
  }
  const numbers = (count: number) => Array.from({ length: count }, (_, n) => `${n + 1} `).join('');
  const workspace = () => ({
    organizationId: server.quickstart.organization_id,
    tenantId: server.quickstart.tenant_id,
  });

  test(
    'is resumed by the SDK and by the command line, each event once',
    async () => {
      const [mine, terminal] = [await addClient(server), await addClient(server)];
      const sdk = new Convoke({
        baseUrl: server.baseUrl,
        clientId: mine.client_id,
        clientSecret: mine.client_secret,
        workspace: workspace(),
      });
      const run = await (await sdk.sessions.create('puppet')).run('talk');
      const talking = talk(await puppet.leg(), mine);

      const command = convoke.run(['invoke', 'puppet', 'talk', '--json'], {
        env: {
          CONVOKE_BASE_URL: server.baseUrl,
          CONVOKE_CLIENT_ID: terminal.client_id,
          CONVOKE_CLIENT_SECRET: terminal.client_secret,
          CONVOKE_CLIENT_ORGANIZATION_ID: workspace().organizationId,
          CONVOKE_CLIENT_TENANT_ID: workspace().tenantId,
        },
      });
      const events: RunEvent[] = [];
      const following = (async () => {
        for await (const event of run) events.push(event);
      })();
      const otherTalking = talk(await puppet.leg(), terminal);

      await following;
      expect(textOf(events)).toBe(numbers(await talking));
      expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
      expect(events.at(-1)?.type).toBe('run_completed');

      const { stdout, stderr, code } = await command;
      expect([code, stderr]).toEqual([0, '']);
      const printed = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as RunEvent);
      expect(textOf(printed)).toBe(numbers(await otherTalking));
      expect(new Set(printed.map(({ id }) => id)).size).toBe(printed.length);
    },
    manyProcessesMs,
  );
});

function textOf(events: readonly RunEvent[]): string {
  return events.map((event) => (event.type === 'message_delta' ? event.data.text : '')).join('');
}
