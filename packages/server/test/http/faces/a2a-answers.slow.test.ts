import { beforeAll, describe, expect, test } from 'vitest';
import { usualAgents } from '../../support/agents.ts';
import { databaseKinds } from '../../support/databases.ts';
import { Puppet } from '../../support/puppet-harness.ts';
import { type TestServer, startServer } from '../../support/server.ts';
import { a2aVersions, openA2aClient } from './a2a-clients.ts';

const publish = ['a2a'];

describe.each(databaseKinds)('on %s', (database) => {
  const puppet = new Puppet();
  let server: TestServer;
  beforeAll(async () => {
    const agents = {
      ...usualAgents,
      asker: { ...usualAgents.asker, publish },
      puppet: { ...puppet.agent(), publish },
    };
    server = await startServer({ database, harnesses: [puppet], agents });
  });

  describe.each(a2aVersions)('an answer of a client of A2A %s', (version) => {
    const open = (agent: string) => {
      const { organization_id, tenant_id } = server.quickstart;
      const { authorization = '' } = server.client;
      const url = `${server.baseUrl}/v1/a2a/${organization_id}/${tenant_id}/${agent}`;
      return openA2aClient(version, url, { authorization });
    };
    const statusesIn = async (session_id: string) => {
      const { body } = await server.send('list_interactions', { params: { session_id } });
      return body.interactions.map(({ status }) => status);
    };

    test('does not reach a request of another task of the same context', async () => {
      const client = await open('asker');
      const first = await client.send('a');
      await client.send('red', { task: first.id });
      const second = await client.send('b', { context: first.context });
      const [{ interaction_key } = {}] = second.data;
      expect(interaction_key).toBeDefined();
      const data = { interaction_key, answer: 'blue' };
      const astray = client.send('', { task: first.id, data });
      await expect(astray).rejects.toThrow(/of this task/);
      expect((await client.get(second.id)).state).toBe('input-required');
      expect(await client.send('', { task: second.id, data })).toMatchObject({
        state: 'completed',
        text: 'Hm. You said blue.',
      });
    });

    test('that is text takes none of two open questions, and data takes each', async () => {
      const client = await open('puppet');
      const begun = client.send('go');
      const leg = await puppet.leg();
      leg.emit({ type: 'user_question', ref: 'a', question: 'First?' });
      leg.emit({ type: 'user_question', ref: 'b', question: 'Second?' });
      leg.end('waiting');
      const asked = await begun;
      expect(asked).toMatchObject({ state: 'input-required', said: 'First?\n\nSecond?' });
      const { id: task, context } = asked;
      await expect(client.send('yes', { task })).rejects.toThrow(/one open question only/);
      expect(await statusesIn(context)).toEqual(['pending', 'pending']);
      const [first, second] = asked.data.map(({ interaction_key }) => interaction_key);
      const left = await client.send('', { task, data: { interaction_key: first, answer: 'x' } });
      expect(left).toMatchObject({ state: 'input-required', said: 'Second?' });
      // One is left, so text answers it.
      const answered = client.send('y', { task });
      const next = await puppet.leg();
      const { input } = next;
      expect(input.kind === 'resume' && Object.fromEntries(input.answers)).toMatchObject({
        a: { values: ['x'] },
        b: { values: ['y'] },
      });
      next.end();
      expect((await answered).state).toBe('completed');
      expect(second).toBeDefined();
    });

    test('that is text takes no question beside an open permission', async () => {
      const client = await open('puppet');
      const begun = client.send('go');
      const leg = await puppet.leg();
      const call = { ref: 'p', toolCallId: 'p', toolName: 'write', toolInput: {} };
      leg.emit({ type: 'user_question', ref: 'q', question: 'Which?' });
      leg.emit({ type: 'permission_request', ...call });
      leg.end('waiting');
      const { id: task, context } = await begun;
      await expect(client.send('yes', { task })).rejects.toThrow(/one open question only/);
      expect(await statusesIn(context)).toEqual(['pending', 'pending']);
      expect((await client.cancel(task)).state).toBe('canceled');
    });
  });
});
