import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Webhook as Standard } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { freePort } from '../../../test/free-port.ts';
import { downloadMs, oldestNode } from '../../../test/oldest-node.ts';
import { openProgramFolder } from '../../../test/program-folder.ts';
import { root } from '../../../test/repository.ts';
import { eventually } from '../../server/test/support/eventually.ts';

test(
  'the receiver of the guide accepts what is signed, once each, and refuses the rest',
  async () => {
    const guide = await readFile(join(root, 'docs/guides/webhooks.md'), 'utf8');
    const [, program = ''] = /^```js run\n([\s\S]*?)^```/m.exec(guide) ?? [];
    expect(program.trim().split('\n').length).toBeLessThanOrEqual(22);
    await using folder = await openProgramFolder(join(import.meta.dirname, '..'));
    const secret = `whsec_${randomBytes(32).toString('base64')}`;
    const port = await freePort();
    let receiver: ChildProcess | undefined;
    try {
      await writeFile(join(folder.path, 'receiver.mjs'), program);
      const env = { ...process.env, WEBHOOK_SECRET: secret, PORT: String(port) };
      receiver = spawn(await oldestNode(), [join(folder.path, 'receiver.mjs')], { env });
      let said = '';
      receiver.stdout?.on('data', (chunk: Buffer) => (said += chunk.toString()));
      const body = JSON.stringify({ id: '1', type: 'run_completed', run_id: 'run_1', data: {} });
      const now = new Date();
      const headers = {
        'webhook-id': 'wh_1_1',
        'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
        'webhook-signature': new Standard(secret).sign('wh_1_1', now, body),
      };
      const post = async (text: string) =>
        (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body: text })).status;
      expect(await eventually(() => post(body), 60_000)).toBe(204);
      expect(await post(body)).toBe(204);
      expect(await post(body.replace('completed', 'failed'))).toBe(400);
      await eventually(() => said.includes('run_1'));
      expect(said).toBe('run_completed run_1\n');
    } finally {
      receiver?.kill('SIGKILL');
    }
  },
  120_000 + downloadMs,
);
