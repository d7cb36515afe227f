import { randomUUID } from 'node:crypto';
import type { OperationId } from '@convoke/contract';
import { callbackTokenOf } from './callback-urls.ts';
import type { OperationCall } from './checked-calls.ts';
import { eventually } from './eventually.ts';
import { failedTenant } from './failed-tenant.ts';
import { givenFeedback, onFeedback } from './feedback-calls.ts';
import { addClient, addOrganization, addTenant } from './identities.ts';
import type { TestServer } from './server.ts';
import { type TenantData, fileTextOf, quietWebhook } from './tenant-data.ts';
import { validConnectionCalls } from './valid-connection-calls.ts';
import { inSession, ofNewSession, ofSession, validFaceCalls } from './valid-face-calls.ts';

/**
 * For every operation, a call that succeeds, from a caller it is for. Resources that a call uses up are created
 * for it. A new operation does not compile without one.
 */
export const validCalls: {
  readonly [Id in OperationId]: (server: TestServer, data: TenantData) => Promise<OperationCall>;
} = {
  issue_token: async (_, { client }) => ({
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: client.client_id,
      client_secret: client.client_secret,
    }).toString(),
  }),
  get_metadata: async () => ({}),
  get_resource_metadata: async (_, { ids }) => ({
    params: { organization_id: ids.organization_id, tenant_id: ids.tenant_id },
  }),
  get_jwks: async () => ({}),

  list_workspaces: async (_, { as }) => ({ as }),
  whoami: async (_, { as }) => ({ as }),

  list_agents: async (_, { as }) => ({ as }),
  invoke_agent: async (_, { as }) => ({
    as,
    params: { agent_name: 'echo' },
    body: { input: { prompt: 'hi' } },
  }),

  create_session: async (_, { as }) => ({ as, body: { agent_name: 'echo' } }),
  list_sessions: async (_, { as }) => ({ as }),
  get_session: ofSession,
  stop_session: ofNewSession,
  resume_session: ofSession,
  create_session_token: ofSession,

  start_run: async (_, data) => ({ ...inSession(data), body: { input: { prompt: 'hi' } } }),
  list_runs: ofSession,
  get_run: async (_, { as, ids }) => ({ as, params: { ...ids } }),
  follow_run_events: async (_, { as, ids }) => ({
    as,
    params: { ...ids },
    headers: { accept: 'application/json' },
  }),
  async cancel_run(server, data) {
    const { as, params } = await ofNewSession(server, data, 'sleeper');
    const body = { input: { prompt: 'hi' } };
    const { body: run } = await server.send('start_run', { as, params, body });
    return { as, params: { ...params, run_id: run.id } };
  },

  async signal_run(server, data) {
    const { as, params } = await ofNewSession(server, data, 'sleeper');
    const body = { input: { prompt: 'hi' } };
    const { body: run } = await server.send('start_run', { as, params, body });
    return { as, params: { run_id: run.id }, body: { name: 'paid', data: { amount: 20 } } };
  },

  async receive_callback(server, data) {
    const { as, params } = await ofNewSession(server, data, 'sleeper');
    const body = { input: { prompt: 'hi' } };
    const { body: run } = await server.send('start_run', { as, params, body });
    return { params: { callback_token: callbackTokenOf(server, run) }, body: { amount: 20 } };
  },

  list_interactions: ofSession,
  async answer_interaction(server, data) {
    const { as, params } = await ofNewSession(server, data, 'asker');
    await server.send('start_run', { as, params, body: { input: { prompt: 'hi' } } });
    const asked = await eventually(async () => {
      const { body } = await server.send('list_interactions', { as, params });
      return body.interactions[0];
    });
    const { interaction_key } = asked;
    return { as, params: { ...params, interaction_key }, body: { answer: 'red' } };
  },
  forget_interaction: async (_, { as, ids }) => ({ as, params: { ...ids } }),

  put_feedback: async (_, data) => onFeedback(data),
  list_feedback: async (_, { as, ids }) => ({ as, params: { ...ids } }),
  delete_feedback: givenFeedback,

  get_agent: async (_, { as }) => ({ as, params: { agent_name: 'echo' } }),
  update_session: async (_, data) => ({ ...inSession(data), body: { title: data.word } }),
  update_run: async (_, { as, ids }) => ({ as, params: { ...ids }, body: { labels: {} } }),
  list_tenant_runs: async (_, { as }) => ({ as }),
  find_run: async (_, { as, ids }) => ({ as, params: { ...ids } }),
  get_overview: async (_, { as }) => ({ as }),
  list_tenant_interactions: async (_, { as }) => ({ as }),
  find_interaction: async (_, { as, ids }) => ({ as, params: { ...ids } }),

  follow_tenant_events: async (_, { as }) => ({ as, headers: { accept: 'application/json' } }),

  prepare_file: async (_, data) => ({ ...inSession(data), body: { name: 'hi.txt' } }),
  list_files: ofSession,
  upload_file: async (_, { as, ids, word }) => ({
    as,
    params: { ...ids },
    body: fileTextOf(word),
  }),
  download_file: async (_, { as, ids }) => ({ as, params: { ...ids } }),
  async delete_file(server, data) {
    const { as, params } = inSession(data);
    const { body: file } = await server.send('prepare_file', { as, params, body: { name: 'x' } });
    return { as, params: { ...params, file_id: file.id } };
  },

  ...validFaceCalls,

  create_schedule: async (_, { as }) => ({ as, body: yearly }),
  list_schedules: async (_, { as }) => ({ as }),
  get_schedule: ofSchedule,
  update_schedule: async (server, data) => ({
    ...(await ofNewSchedule(server, data)),
    body: { version: 1, name: 'Renamed' },
  }),
  delete_schedule: ofNewSchedule,
  pause_schedule: ofNewSchedule,
  resume_schedule: ofNewSchedule,
  run_schedule: ofNewSchedule,
  list_fires: ofSchedule,
  preview_schedule: ofSchedule,

  list_budgets: managed,
  set_budget: async (server, data) => ({
    ...(await managed(server, data)),
    ...key(),
    body: { scope: { kind: 'agent', id: randomUUID() }, period: 'day', max_tokens: 1e9 },
  }),
  get_budget: ofNewBudget,
  delete_budget: ofNewBudget,

  create_webhook: async (server, data) => {
    await removeWebhooks(server, data);
    return { as: data.as, body: quietWebhook };
  },
  ...validConnectionCalls,

  list_webhooks: async (_, { as }) => ({ as }),
  get_webhook: ofWebhook,
  update_webhook: async (server, data) => ({
    ...(await ofNewWebhook(server, data)),
    body: { version: 1, description: 'Changed' },
  }),
  delete_webhook: ofNewWebhook,
  rotate_webhook: ofNewWebhook,
  test_webhook: ofWebhook,
  list_deliveries: ofWebhook,
  get_delivery: ofWebhook,
  redeliver: ofWebhook,
  replay_webhook: async (server, data) => ({
    ...(await ofWebhook(server, data)),
    body: { after_id: '0000000000000000' },
  }),

  list_clients: managed,
  list_profiles: managed,
  create_client: async (server, data) => ({
    ...(await managed(server, data)),
    ...key(),
    body: { name: 'Made', profile: 'observe' },
  }),
  get_client: managed,
  update_client: async (server, data) => ({
    ...(await ofNewClient(server, data)),
    body: { version: 1, name: 'Renamed' },
  }),
  delete_client: ofNewClient,

  add_credential: async (server, data) => ({
    ...(await ofNewClient(server, data)),
    ...key(),
    body: { label: 'second' },
  }),
  revoke_credential: ofNewClient,

  read_usage: async (_, { as }) => ({ as }),
  read_organization_usage: managed,

  list_tenants: managed,
  create_tenant: async (server, data) => ({
    ...(await managed(server, data)),
    ...key(),
    body: { display_name: 'Made', mode: 'saas' },
  }),
  get_tenant: managed,
  async retry_tenant(server, data) {
    const { as, params } = await managed(server, data);
    return { as, params: { ...params, tenant_id: await failedTenant(server, data) } };
  },
  async offboard_tenant(server, data) {
    const { as, params } = await managed(server, data);
    const tenant_id = await addTenant(server, 'Leaving', data.organization);
    return { as, params: { ...params, tenant_id }, body: { confirm: tenant_id } };
  },

  get_me: managed,
  get_organization: managed,
  list_members: managed,
  update_member: async (server, data) => ({
    ...(await managedMember(server, data)),
    body: { role: 'viewer' },
  }),
  remove_member: managedMember,
  sign_out_member: managedMember,
  create_invitation: async (server, data) => ({
    ...(await managed(server, data)),
    ...key(),
    body: { role: 'viewer' },
  }),
  list_invitations: managed,
  async revoke_invitation(server, data) {
    const { invitation } = await invite(server, data);
    return {
      ...(await managed(server, data)),
      params: { ...data.ids, invitation_id: invitation.id },
    };
  },
  read_invitation: async (server, data) => ({
    body: { secret: (await invite(server, data)).secret },
  }),
  async accept_invitation(server, data) {
    const { secret } = await invite(server, data);
    const other = await addOrganization(server, 'Elsewhere');
    return { as: other.owner, body: { secret } };
  },
  async sign_up(server, data) {
    const { secret } = await invite(server, data);
    const email = `${randomUUID()}@convoke.test`;
    return { body: { secret, email, password: 'correct horse battery' } };
  },
  get_rules: managed,
  // The same document again is accepted with any version.
  set_rules: async (server, data) => ({
    ...(await managed(server, data)),
    body: { version: 0, rules: [{ name: 'none', tools: ['no-such-tool'], effect: 'deny' }] },
  }),
  try_rules: async (server, data) => ({
    ...(await managed(server, data)),
    body: { rules: [{ name: 'none', tools: ['no-such-tool'], effect: 'deny' }] },
  }),
  list_audit: managed,
  get_audit_status: managed,

  get_system: async (_, { as }) => ({ as }),
  get_health: async () => ({}),
  get_readiness: async () => ({}),
  get_openapi: async () => ({}),
  get_docs: async () => ({}),
  get_guide: async () => ({ params: { guide_name: 'concepts' } }),
  get_reference_page: async () => ({ params: { page_name: 'runs' } }),
  get_search_index: async () => ({}),
};

const yearly = {
  name: 'Yearly',
  agent_name: 'echo',
  cron: '0 0 1 1 *',
  input: { prompt: 'hi' },
};

async function ofSchedule(_: TestServer, { as, ids }: TenantData) {
  return { as, params: { schedule_id: ids.schedule_id } };
}

async function ofNewSchedule(server: TestServer, { as }: TenantData) {
  const { body } = await server.send('create_schedule', { as, body: yearly });
  return { as, params: { schedule_id: body.id } };
}

async function ofWebhook(_: TestServer, { as, ids }: TenantData) {
  return { as, params: { webhook_id: ids.webhook_id, delivery_id: ids.delivery_id } };
}

async function ofNewWebhook(server: TestServer, data: TenantData) {
  await removeWebhooks(server, data);
  const { as } = data;
  const { body } = await server.send('create_webhook', { as, body: quietWebhook });
  return { as, params: { webhook_id: body.webhook.id } };
}

/** Removes those that calls before have made: a tenant may have few. */
async function removeWebhooks(server: TestServer, { as }: TenantData): Promise<void> {
  const { body: known } = await server.send('list_webhooks', { as });
  const spent = known.webhooks.filter(({ description }) => description === undefined);
  for (const { id } of spent) {
    await server.send('delete_webhook', { as, params: { webhook_id: id } });
  }
}

async function managed(_: TestServer, { organization, ids }: TenantData) {
  return { as: organization.owner, params: { ...ids } };
}

/** A new member, whom the owner manages. */
async function managedMember(server: TestServer, data: TenantData) {
  const { secret } = await invite(server, data);
  const email = `${randomUUID()}@convoke.test`;
  const body = { secret, email, password: 'correct horse battery' };
  const { user_id } = (await server.send('sign_up', { body })).body;
  const { as, params } = await managed(server, data);
  return { as, params: { ...params, user_id } };
}

async function invite(server: TestServer, { organization, ids }: TenantData) {
  const { organization_id } = ids;
  const as = organization.owner;
  const params = { organization_id };
  // Those that calls before have left: an organization may have few.
  const { body: known } = await server.send('list_invitations', { as, params });
  for (const { id } of known.invitations.slice(20)) {
    await server.send('revoke_invitation', { as, params: { ...params, invitation_id: id } });
  }
  const body = { role: 'viewer' };
  return (await server.send('create_invitation', { as, params, ...key(), body })).body;
}

async function ofNewBudget(server: TestServer, { organization, ids }: TenantData) {
  const { body } = await server.send('set_budget', {
    as: organization.owner,
    params: { organization_id: ids.organization_id },
    ...key(),
    body: { scope: { kind: 'agent', id: randomUUID() }, period: 'day', max_tokens: 1e9 },
  });
  return { as: organization.owner, params: { ...ids, budget_id: body.id } };
}

async function ofNewClient(server: TestServer, { organization, ids }: TenantData) {
  const { record, credentialId } = await addClient(server, {}, organization);
  const params = { ...ids, client_id: record.id, credential_id: credentialId };
  return { as: organization.owner, params };
}

function key() {
  return { headers: { 'idempotency-key': randomUUID() } };
}
