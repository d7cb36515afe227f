import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { downloadMs, oldestNode } from '../../../test/oldest-node.ts';
import { openProgramFolder } from '../../../test/program-folder.ts';
import { eventually } from '../../server/test/support/eventually.ts';
import { Convoke } from '../src/index.ts';
import { type Quickstart, clientOf, startConvoke } from './convoke-server.ts';

test(
  'the first example of the README works unchanged on the oldest Node it names',
  async () => {
    const readme = await readFile(join(import.meta.dirname, '../README.md'), 'utf8');
    const example = /```js\n(.*?)```/s.exec(readme)?.[1] ?? '';
    expect(readme).toContain('client for Node 20.18 or newer');
    const node = await oldestNode();
    await using server = await startConvoke();
    const { base_url, client_id, client_secret, tenant_id } = server.quickstart;
    // Inside the package, so that Node finds it as an application would.
    await using folder = await openProgramFolder(join(import.meta.dirname, '..'));
    const program = join(folder.path, 'readme-example.mjs');
    await writeFile(program, example);
    const { stdout } = await promisify(execFile)(node, [program], {
      env: {
        CONVOKE_BASE_URL: base_url,
        CONVOKE_CLIENT_ID: client_id,
        CONVOKE_CLIENT_SECRET: client_secret,
        CONVOKE_CLIENT_TENANT_ID: tenant_id,
      },
    });
    expect(stdout).toBe(
      'Hello! You said: Hello!\n\nNice to meet you, Captain. May I write that down?\n\n' +
        'Thank you, Captain. It is in note.txt.\n',
    );
  },
  downloadMs,
);

test(
  'the samples about the whole tenant work one after the other, and a webhook is verified',
  async () => {
    const readme = await readFile(join(import.meta.dirname, '../README.md'), 'utf8');
    const samples = Array.from(
      readme.matchAll(/^```js run\n(.*?)^```/gms),
      ([, code = '']) => code,
    );
    expect(samples).toHaveLength(5);
    const node = await oldestNode();
    await using server = await startConvoke({ CONVOKE_WEBHOOK_ALLOW: '127.0.0.0/8' });
    await using folder = await openProgramFolder(join(import.meta.dirname, '..'));
    const program = join(folder.path, 'readme-samples.mjs');
    const body = samples.join('\n').replace('https://example.com', 'http://127.0.0.1:9999');
    await writeFile(program, `${prelude(server.quickstart)}${body}${delivery}`);
    await countUsage(server);
    const { stdout } = await promisify(execFile)(node, [program]);
    expect(stdout.split('\n')).toEqual([
      expect.stringMatching(/^run_\w+ completed$/),
      expect.stringMatching(/^\d+ run_completed run_\w+$/),
      '[',
      ...Array.from({ length: 3 }, () => expect.stringMatching(/^ {2}'\d{4}-\d\d-\d\dT.*'/)),
      ']',
      expect.stringMatching(/^echo \d+ \d+$/),
      'msg_1 run_completed run_1',
      'WebhookVerificationError',
      '',
    ]);
  },
  downloadMs,
);

/** A pass adds ended runs to the totals, so a sample that lists usage right after its run may find none. */
async function countUsage(server: Parameters<typeof clientOf>[0]): Promise<void> {
  const convoke = new Convoke(clientOf(server));
  const session = await convoke.sessions.create('echo');
  await (await session.runs.start({ prompt: 'Hello' })).text();
  await eventually(
    async () => (await convoke.usage.list({ group_by: 'agent' }).page()).items.length > 0,
  );
}

/** What the samples take from the text around them. */
function prelude(known: Quickstart): string {
  const { base_url, client_id, client_secret, owner_token, organization_id, tenant_id } = known;
  const client = { baseUrl: base_url, clientId: client_id, clientSecret: client_secret };
  const person = { baseUrl: base_url, token: owner_token, organizationId: organization_id };
  return `
import { createHmac } from 'node:crypto';
import { Convoke, ConvokeAdmin, verifyWebhook } from '@convoke/sdk';
const tenantId = ${JSON.stringify(tenant_id)};
const convoke = new Convoke({ ...${JSON.stringify(client)}, workspace: { tenantId } });
const admin = new ConvokeAdmin(${JSON.stringify(person)});
`;
}

/** Signs a notice as the service does, and delivers it unchanged and changed. */
const delivery = `
const text = JSON.stringify({ id: '1', type: 'run_completed', run_id: 'run_1', data: {} });
const at = String(Math.floor(Date.now() / 1000));
const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
const signature = createHmac('sha256', key).update(\`msg_1.\${at}.\${text}\`).digest('base64');
const headers = { 'webhook-id': 'msg_1', 'webhook-timestamp': at, 'webhook-signature': \`v1,\${signature}\` };
const post = (body) => new Request('http://127.0.0.1', { method: 'POST', headers, body });
await receive(post(text));
await receive(post(text.replace('completed', 'failed'))).catch(({ name }) => console.log(name));
`;

test('the package of a checkout exports what its sources export', async () => {
  const pairs = [
    [await import('@convoke/sdk'), await import('../src/index.ts')],
    [await import('@convoke/sdk/ai-sdk'), await import('../src/ai-sdk.ts')],
    [await import('@convoke/sdk/node'), await import('../src/node.ts')],
  ];
  for (const [ours, sources] of pairs) expect({ ...ours }).toEqual({ ...sources });
});
