import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../../../../test/repository.ts';
import { readAgentFolder } from '../../src/agents/agent-folder.ts';
import { acpHarness } from '../../src/harness/acp/harness.ts';
import { resolveEquipment } from '../../src/harness/resolve-equipment.ts';
import type { AccountHeader } from '../../src/ports/connections/leg-connections.ts';
import type { Harness } from '../../src/ports/harness.ts';
import { temporaryFolder, writeFiles } from '../support/agent-folders.ts';

/** Only their settings are read here. */
const parts = {} as Parameters<typeof acpHarness>[0];
const harnesses = new Map<string, Harness>([['acp', acpHarness(parts)]]);

async function read(yaml: string) {
  const folder = await temporaryFolder();
  const text = `framework: acp\ncommand: [assistant]\n${yaml}`;
  await writeFiles(folder, { 'mailer/agent.yaml': text });
  return readAgentFolder({ folder: join(folder, 'mailer'), name: 'mailer', harnesses });
}

test('connections of an agent have an owner, and are required unless it says otherwise (D-604)', async () => {
  const found = await read(`
connections:
  github: { owner: end_user }
  mail: { owner: end_user, fallback: tenant, required: false }
mcp_servers:
  github: { url: "https://mcp.test/", connection: github }
env: { MAIL_TOKEN: "\${connection:mail}" }`);
  if (!found.ok) throw new Error(found.reason);
  expect(found.agent.connections).toEqual([
    { service: 'github', owner: 'end_user', hasFallback: false, isRequired: true },
    { service: 'mail', owner: 'end_user', hasFallback: true, isRequired: false },
  ]);
  const without = await read('');
  expect(without.ok && without.agent).not.toHaveProperty('connections');
});

const endpoints =
  'client_id: convoke, authorization_endpoint: "https://mail.test/auth", token_endpoint: "https://mail.test/token"';
function linked(owner: string, more = 'scope: read') {
  return `connections: { mail: { ${owner}, oauth: { ${endpoints}, ${more} } } }`;
}

test('a service says how its accounts are connected by a link (D-605)', async () => {
  const found = await read(linked('owner: end_user', 'client_secret: "${env:MAIL_SECRET}"'));
  expect(found.ok && found.agent.connections).toMatchObject([
    {
      service: 'mail',
      link: {
        clientId: 'convoke',
        clientSecret: '${env:MAIL_SECRET}',
        authorizationEndpoint: 'https://mail.test/auth',
        tokenEndpoint: 'https://mail.test/token',
      },
    },
  ]);
});

test('a service whose endpoints are not declared is that of its MCP server (D-605)', async () => {
  const found = await read(`
connections: { mail: { owner: end_user, oauth: { scope: read } } }
mcp_servers:
  other: { url: "https://other.test/" }
  mail: { url: "https://mail.test/mcp", connection: mail }`);
  expect(found.ok && found.agent.connections).toMatchObject([
    { service: 'mail', link: { mcpServer: 'https://mail.test/mcp', scope: 'read' } },
  ]);
  const guide = await readFile(join(root, 'docs/guides/connections.md'), 'utf8');
  const documented = await read(/^```yaml discovered\n(.*?)^```/ms.exec(guide)?.[1] ?? '');
  expect(documented.ok && documented.agent.connections).toMatchObject([
    { service: 'notes', link: { mcpServer: 'https://mcp.example.com/mcp' } },
  ]);
});

const many = Array.from({ length: 21 }, (_, index) => `  s${index}: { owner: tenant }`).join('\n');

test.each([
  ['env: { A: "x ${connection:mail}" }', /env\.A.* refers to the connection mail/],
  [
    'mcp_servers: { m: { url: "https://m.test/", headers: { X-Key: "${connection:mail}" } } }',
    /mcp_servers\.m\.headers\.X-Key/,
  ],
  [
    'mcp_servers: { m: { url: "https://m.test/", connection: mail } }',
    /mcp_servers\.m\.connection/,
  ],
  [
    'connections: { mail: { owner: tenant } }\nmcp_servers: { m: { command: x, connection: mail } }',
    /connection/,
  ],
  [
    'connections: { mail: { owner: tenant } }\nmcp_servers: { m: { url: "https://m.test/", connection: mail, headers: { authorization: "${env:A}" } } }',
    /headers\.authorization cannot be combined with connection/,
  ],
  ['connections: { mail: {} }', /connections\.mail\.owner must be tenant or end_user/],
  ['connections: { mail: { owner: tenant, fallback: tenant } }', /connections\.mail\.fallback/],
  [
    'connections: { mail: { owner: end_user, oauth: {} } }\nmcp_servers: { m: { command: x } }',
    /connections\.mail\.oauth needs client_id, authorization_endpoint and token_endpoint, or an entry of mcp_servers/,
  ],
  ...[
    ['client_id: x, token_endpoint: "https://m.test/"', /oauth\.authorization_endpoint is needed/],
    ['client_id: x, authorization_endpoint: "https://m.test/"', /oauth\.token_endpoint is needed/],
    ['client_secret: "${env:A}"', /oauth\.client_id is needed beside client_secret/],
    ['issuer: "https://m.test/"', /oauth\.authorization_endpoint is needed beside issuer/],
    [
      'authorization_endpoint: "https://m.test/", token_endpoint: "https://m.test/"',
      /oauth\.client_id is needed beside authorization_endpoint/,
    ],
  ].map(([oauth, problem]): [string, RegExp] => [
    `connections: { mail: { owner: end_user, oauth: { ${oauth} } } }\nmcp_servers: { m: { url: "https://m.test/", connection: mail } }`,
    problem as RegExp,
  ]),
  [linked('owner: tenant'), /connections\.mail\.oauth only means something for the owner end_user/],
  [
    linked('owner: end_user', 'client_secret: a-plain-secret'),
    /oauth\.client_secret must refer to/,
  ],
  [linked('owner: end_user', 'issuer: mail.test'), /oauth\.issuer must be an http or https URL/],
  ['connections: { Mail: { owner: tenant } }', /connections\.Mail is not a valid name/],
  [`connections:\n${many}`, /at most 20/],
])('%s is a problem with its place', async (yaml, problem) => {
  const found = await read(yaml);
  expect(found.ok).toBe(false);
  expect(!found.ok && found.reason).toMatch(problem);
  expect(!found.ok && found.reason).toMatch(/^agent\.yaml:\d+:\d+: /);
});

test('a program gets the header of its account, or no server where it is missing (D-596)', async () => {
  const account: AccountHeader = {
    name: 'X-Api-Key',
    value: 'an-account-of-mail',
    secret: 'an-account-of-mail',
    version: 1,
  };
  const given = {
    env: { MAIL: '${connection:mail}', CRM: '${connection:crm}' },
    mcpServers: {
      mail: { type: 'http', url: 'https://m.test/', headers: {}, connection: 'mail' },
      crm: { type: 'http', url: 'https://c.test/', headers: {}, connection: 'crm' },
    },
  } as const;
  const connections = {
    atStart: (service: string) => (service === 'mail' ? account : undefined),
    now: async () => account,
    refresh: async () => account,
    reject: () => Promise.reject(new Error('not asked for')),
  };
  const { env, mcpServers, redact } = await resolveEquipment(given, connections);
  expect(env).toEqual({ MAIL: 'an-account-of-mail' });
  expect(mcpServers).toEqual({
    mail: { type: 'http', url: 'https://m.test/', headers: { 'X-Api-Key': 'an-account-of-mail' } },
  });
  expect(redact('key=an-account-of-mail')).toBe('key=[secret]');
});
