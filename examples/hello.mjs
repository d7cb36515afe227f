import { readFileSync } from 'node:fs';
import { Convoke } from '@convoke/sdk';

const quick = JSON.parse(readFileSync('.convoke/quickstart.json', 'utf8'));
const { base_url: baseUrl, client_id: clientId, client_secret: clientSecret } = quick;
const workspace = { tenantId: quick.tenant_id };
const convoke = new Convoke({ baseUrl, clientId, clientSecret, workspace });

const session = await convoke.sessions.create('demo');
const run = await session.run('Hello');
const events = run.follow({ onQuestion: () => 'Captain', onPermission: () => 'allow' });
for await (const event of events) {
  if (event.type === 'message_delta') process.stdout.write(event.data.text);
}
