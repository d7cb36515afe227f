import type { OperationId } from '@convoke/contract';

/** How each operation is called with `@convoke/sdk`; undefined where a program does not call it itself. */
const calls: Readonly<Record<OperationId, string | undefined>> = {
  issue_token: `import { Convoke } from '@convoke/sdk';

// The client obtains and renews its tokens automatically.
const convoke = new Convoke({ baseUrl, clientId, clientSecret, workspace: { tenantId } });`,
  get_metadata: undefined,
  get_jwks: undefined,

  list_workspaces: `for await (const { organization_id, tenant } of convoke.workspaces()) {
  console.log(organization_id, tenant.tenant_id);
}`,
  whoami: 'const { scopes } = await convoke.whoami();',

  list_agents: `for await (const agent of convoke.agents.list()) {
  console.log(agent.name);
}`,
  invoke_agent: `const run = await convoke.agents.invoke('demo', 'Summarise the release.');
for await (const event of run.follow()) {
  if (event.type === 'message_delta') process.stdout.write(event.data.text);
}`,

  create_session: "const session = await convoke.sessions.create('demo');",
  list_sessions: `for await (const { id } of convoke.sessions.list({ status: 'waiting' })) {
  console.log(id);
}`,
  get_session: 'const session = await convoke.sessions.get(sessionId);',
  stop_session: "await convoke.sessions.at(sessionId).stop({ mode: 'suspend' });",
  resume_session: 'await convoke.sessions.at(sessionId).resume();',

  start_run: "const run = await convoke.sessions.at(sessionId).run('Summarise the release.');",
  list_runs: `for await (const run of convoke.sessions.at(sessionId).runs.list({ status: 'failed' })) {
  console.log(run.id, run.record.error_code);
}`,
  get_run: 'const run = await convoke.sessions.at(sessionId).runs.get(runId);',
  follow_run_events: `const run = convoke.sessions.at(sessionId).runs.at(runId);
for await (const event of run.follow({ onPermission: () => 'allow' })) {
  if (event.type === 'message_delta') process.stdout.write(event.data.text);
}`,
  cancel_run: 'await convoke.sessions.at(sessionId).runs.at(runId).cancel();',

  list_interactions: `for await (const { interaction_key, kind } of convoke.sessions.at(sessionId).interactions.pending()) {
  console.log(interaction_key, kind);
}`,
  answer_interaction: `await convoke.sessions.at(sessionId).interactions.answer(interactionKey, {
  decision: 'allow',
  updated_input: { path: 'note.txt', text: 'Hello' },
});`,

  get_agent: `const { input_schema, tools } = await convoke.agents.get('demo');`,

  update_session: `await convoke.sessions.at(sessionId).update({ title: 'Release notes', labels: { ticket: 'OPS-1204' } });`,
  update_run: `await convoke.sessions.at(sessionId).runs.at(runId).update({ labels: { ticket: 'OPS-1204' } });`,
  list_tenant_runs: `for await (const run of convoke.runs.list({ status: ['failed'], label: ['ticket:OPS-1204'] })) {
  console.log(run.id, run.error_code, run.preview);
}`,
  find_run: 'const run = await convoke.runs.get(runId);',
  get_overview: 'const { runs, pending_interactions } = await convoke.overview();',
  list_tenant_interactions: `for await (const { interaction_key, agent_name, tool_name } of convoke.interactions.list()) {
  console.log(interaction_key, agent_name, tool_name);
}`,
  find_interaction: 'const interaction = await convoke.interactions.get(interactionKey);',

  follow_tenant_events: `let lastId: string | undefined;
for await (const notice of convoke.feed.follow({ after: lastId })) {
  console.log(notice.id, notice.type, notice.run_id);
  lastId = notice.id;
}`,

  prepare_file:
    "const file = await convoke.sessions.at(sessionId).files.prepare({ name: 'report.pdf' });",
  list_files: `for await (const file of convoke.sessions.at(sessionId).files.list()) {
  console.log(file.name, file.status);
}`,
  upload_file: 'await convoke.sessions.at(sessionId).files.put(fileId, bytes);',
  download_file: 'const content = await convoke.sessions.at(sessionId).files.download(fileId);',
  delete_file: 'await convoke.sessions.at(sessionId).files.delete(fileId);',

  create_schedule: `const { id, next_at } = await convoke.schedules.create({
  name: 'Morning report',
  agent_name: 'demo',
  cron: '0 9 * * 1-5',
  time_zone: 'Europe/Berlin',
  input: 'Report on yesterday.',
});`,
  list_schedules: `for await (const { name, next_at } of convoke.schedules.list()) {
  console.log(name, next_at);
}`,
  get_schedule: 'const schedule = await convoke.schedules.get(scheduleId);',
  update_schedule:
    "await convoke.schedules.update(scheduleId, { version: 1, cron: '0 8 * * 1-5' });",
  delete_schedule: 'await convoke.schedules.delete(scheduleId);',
  pause_schedule: 'await convoke.schedules.pause(scheduleId);',
  resume_schedule: 'await convoke.schedules.resume(scheduleId);',
  run_schedule: 'const run = await convoke.schedules.run(scheduleId);',
  list_fires: `for await (const { slot_at, outcome } of convoke.schedules.fires(scheduleId)) {
  console.log(slot_at, outcome);
}`,
  preview_schedule: 'const times = await convoke.schedules.preview(scheduleId, { count: 5 });',
  read_usage: `for await (const { group, cost = 0, currency } of convoke.usage.list({ group_by: 'agent' })) {
  console.log(group, cost / 1_000_000, currency);
}`,
  read_organization_usage: `for await (const { group, cost = 0 } of admin.usage.list({ group_by: 'tenant' })) {
  console.log(group, cost / 1_000_000);
}`,

  list_budgets: `for await (const { scope, spent, max_cost } of admin.budgets.list()) {
  console.log(scope.kind, scope.id, spent.cost, max_cost);
}`,
  set_budget: `await admin.budgets.set({
  scope: { kind: 'tenant', id: tenantId },
  period: 'day',
  max_cost: 5_000_000,
});`,
  get_budget: 'const { spent, resets_at } = await admin.budgets.get(budgetId);',
  delete_budget: 'await admin.budgets.delete(budgetId);',

  create_webhook: `const { webhook, secret } = await convoke.webhooks.create({
  url: 'https://example.com/convoke',
  types: ['run_waiting', 'run_completed', 'run_failed'],
});`,
  list_webhooks: `for await (const { url, status } of convoke.webhooks.list()) {
  console.log(url, status);
}`,
  get_webhook: 'const webhook = await convoke.webhooks.get(webhookId);',
  update_webhook: "await convoke.webhooks.update(webhookId, { version: 1, status: 'active' });",
  delete_webhook: 'await convoke.webhooks.delete(webhookId);',
  rotate_webhook: 'const { secret } = await convoke.webhooks.rotate(webhookId);',
  test_webhook: 'const delivery = await convoke.webhooks.test(webhookId);',
  list_deliveries: `for await (const delivery of convoke.webhooks.deliveries(webhookId)) {
  console.log(delivery.type, delivery.status, delivery.response_status);
}`,
  get_delivery: `const delivery = await convoke.webhooks.delivery(webhookId, deliveryId);
console.log(delivery.request_body, delivery.response_status, delivery.response_excerpt);`,
  redeliver: 'await convoke.webhooks.redeliver(webhookId, deliveryId);',
  replay_webhook: "await convoke.webhooks.replay(webhookId, { afterId: '0000000000000042' });",

  list_clients: `for await (const client of admin.clients.list()) {
  console.log(client.name, client.status);
}`,
  list_profiles: 'const { profiles, scopes } = await admin.clients.profiles();',
  create_client: `const { client_id, client_secret } = await admin.clients.create({
  name: 'Nightly reports',
  profile: 'invoke',
});`,
  get_client: 'const { client, credentials } = await admin.clients.get(clientId);',
  update_client: "await admin.clients.update(clientId, { version: 1, status: 'disabled' });",
  delete_client: 'await admin.clients.delete(clientId);',

  add_credential:
    "const { client_secret } = await admin.credentials.add(clientId, { label: 'autumn' });",
  revoke_credential: 'await admin.credentials.revoke(clientId, credentialId);',

  list_tenants: `for await (const tenant of admin.tenants.list()) {
  console.log(tenant.display_name, tenant.status);
}`,
  create_tenant:
    "const tenant = await admin.tenants.create({ display_name: 'Acme Europe', mode: 'saas' });",
  get_tenant: 'const tenant = await admin.tenants.get(tenantId);',
  retry_tenant: 'await admin.tenants.retry(tenantId);',
  offboard_tenant: 'await admin.tenants.offboard(tenantId, { confirm: tenantId });',

  get_me: 'const { memberships } = await convoke.me();',
  get_organization: 'const { name, counts } = await admin.organization();',
  list_members: `for await (const { user_id, role } of admin.members.list()) {
  console.log(user_id, role);
}`,

  list_audit: `for await (const { at, actor, action, object } of admin.audit.list()) {
  console.log(at, actor.name ?? actor.id, action, object);
}`,
  get_audit_status: 'const { last_hash, problem } = await admin.audit.status();',

  get_system: 'const { version, limits } = await convoke.system();',
  get_health: undefined,
  get_readiness: undefined,
  get_openapi: undefined,
  get_docs: undefined,
  get_guide: undefined,
  get_reference_page: undefined,
  get_search_index: undefined,
};

const connections = {
  convoke: `import { Convoke } from '@convoke/sdk';

const convoke = new Convoke({ baseUrl, clientId, clientSecret, workspace: { tenantId } });`,
  admin: `import { ConvokeAdmin } from '@convoke/sdk';

const admin = new ConvokeAdmin({ baseUrl, token, organizationId });`,
};

/** Renders the operation as a call of the SDK. */
export function sdkOf(operationId: string): string | undefined {
  const call = Object.entries(calls).find(([id]) => id === operationId)?.[1];
  if (call === undefined || operationId === 'issue_token') return call;
  const connection = call.includes('admin.') ? connections.admin : connections.convoke;
  return `${connection}\n\n${call}`;
}
