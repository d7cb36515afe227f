import { usualAgents } from './agents.ts';
import type { Identity } from './checked-calls.ts';
import { eventually } from './eventually.ts';
import {
  type Organization,
  type TestClient,
  addClient,
  addOrganization,
  addTenant,
  firstOrganization,
} from './identities.ts';
import type { TestServer } from './server.ts';
import { addMember } from './sign-in/console.ts';

/**
 * Everything one tenant can hold, one of each kind, with the tenant's own word in every text that a caller
 * can choose: a response that holds the word holds data of this tenant.
 */
export interface TenantData {
  readonly word: string;
  readonly organization: Organization;
  readonly tenantId: string;
  /** An automation client of the organization that may do everything. */
  readonly client: TestClient;
  /** The client, in this tenant. */
  readonly as: Identity;
  readonly ids: TenantDataIds;
}

/** Ids by the name of the path parameter they go into. */
export interface TenantDataIds {
  readonly organization_id: string;
  readonly tenant_id: string;
  readonly client_id: string;
  readonly credential_id: string;
  readonly session_id: string;
  readonly run_id: string;
  readonly interaction_key: string;
  readonly file_id: string;
  readonly schedule_id: string;
  readonly webhook_id: string;
  readonly delivery_id: string;
  readonly agent_name: string;
  readonly budget_id: string;
  readonly invitation_id: string;
  readonly user_id: string;
}

/** A webhook without deliveries: no such notice is made here. Its address is of a documentation network. */
export const quietWebhook = { url: 'https://192.0.2.1/hook', types: ['budget_reached'] };

export const fileTextOf = (word: string) => `the bytes of ${word}`;

export async function fillTenant(
  server: TestServer,
  word: string,
  known?: Organization,
): Promise<TenantData> {
  const organization = known ?? (await addOrganization(server, `Organization ${word}`));
  const tenant = await addTenant(server, `Tenant ${word}`, organization);
  const client = await addClient(server, { name: `Client ${word}` }, organization);
  const as = client.in(tenant);
  const held = await fill(server, as, word);
  return {
    word,
    organization,
    tenantId: tenant,
    client,
    as,
    ids: {
      organization_id: organization.organization_id,
      tenant_id: tenant,
      client_id: client.record.id,
      credential_id: client.credentialId,
      agent_name: 'keeper',
      budget_id: await setBudget(server, organization, tenant),
      invitation_id: await invite(server, organization, tenant),
      user_id: await addMember(server, 'viewer', organization.organization_id),
      ...held,
    },
  };
}

/** Far from being reached. */
async function setBudget(
  server: TestServer,
  { organization_id, owner }: Organization,
  tenant: string,
): Promise<string> {
  const { body } = await server.send('set_budget', {
    as: owner,
    params: { organization_id },
    headers: { 'idempotency-key': `budget of ${tenant}` },
    body: { scope: { kind: 'tenant', id: tenant }, period: 'day', max_tokens: 1e9 },
  });
  return body.id;
}

async function invite(
  server: TestServer,
  { organization_id, owner }: Organization,
  tenant: string,
): Promise<string> {
  const { body } = await server.send('create_invitation', {
    as: owner,
    params: { organization_id },
    headers: { 'idempotency-key': `invitation of ${tenant}` },
    body: { role: 'viewer' },
  });
  return body.invitation.id;
}

/** Fills a tenant of the first organization. */
export async function fillFirstOrganization(server: TestServer, word: string): Promise<TenantData> {
  return fillTenant(server, word, firstOrganization(server));
}

async function fill(server: TestServer, as: Identity, word: string) {
  const { body: session } = await server.send('create_session', {
    as,
    body: { agent_name: 'keeper', idempotency_key: `open ${word}` },
  });
  const params = { session_id: session.id };
  const { body: file } = await server.send('prepare_file', {
    as,
    params,
    body: { name: `${word}.txt`, content_type: `text/plain; note=${word}` },
  });
  await server.send('upload_file', {
    as,
    params: { ...params, file_id: file.id },
    body: fileTextOf(word),
  });
  const { body: run } = await server.send('start_run', {
    as,
    params,
    body: { input: { prompt: word, files: [file.id] }, idempotency_key: `start ${word}` },
  });
  const interaction = await eventually(async () => {
    const { body } = await server.send('list_interactions', { as, params });
    return body.interactions[0];
  });
  const { body: schedule } = await server.send('create_schedule', {
    as,
    body: {
      name: `Plan ${word}`,
      agent_name: 'echo',
      cron: '0 0 1 1 *',
      input: { prompt: word },
      idempotency_key: `plan ${word}`,
    },
  });
  const { body: issued } = await server.send('create_webhook', {
    as,
    body: { ...quietWebhook, description: `Hook ${word}`, idempotency_key: `hook ${word}` },
  });
  // Disabled: what is pending for it is never sent, so that the tables rest.
  await server.send('update_webhook', {
    as,
    params: { webhook_id: issued.webhook.id },
    body: { version: 1, status: 'disabled' },
  });
  await server.send('put_connection', {
    as,
    params: { service: 'crm' },
    body: { end_user: `User ${word}`, auth: { type: 'bearer', token: `token-of-${word}` } },
  });
  const { body: delivery } = await server.send('test_webhook', {
    as,
    params: { webhook_id: issued.webhook.id },
  });
  return {
    session_id: session.id,
    run_id: run.id,
    interaction_key: interaction.interaction_key,
    file_id: file.id,
    schedule_id: schedule.id,
    webhook_id: issued.webhook.id,
    delivery_id: delivery.id,
  };
}

/** Agents that a server needs for `fillTenant`. */
export const tenantDataAgents = {
  ...usualAgents,
  connected: {
    description: 'Uses the account of its user',
    connections: {
      github: {
        owner: 'end_user',
        required: false,
        // An address, because tests look up no names.
        oauth: {
          client_id: 'convoke',
          authorization_endpoint: 'https://1.1.1.1/authorize',
          token_endpoint: 'https://1.1.1.1/token',
        },
      },
    },
    script: [{ say: 'hi' }],
  },
  keeper: {
    description: 'Asks about what it was told, and waits',
    session_files: true,
    script: [
      { say: 'I was told {{prompt}}. ' },
      { ask: { question: 'What of {{prompt}}?', options: ['{{prompt}}'] } },
      { say: '{{answer}}' },
    ],
  },
};
