import type { OperationId } from '@convoke/contract';

/** How each operation is called with `@convoke/sdk`; undefined where a program does not call it by itself. */
const calls: Readonly<Record<OperationId, string | undefined>> = {
  issue_token: `import { Convoke } from '@convoke/sdk';

// The client obtains and renews its tokens by itself.
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

  prepare_file:
    "const file = await convoke.sessions.at(sessionId).files.prepare({ name: 'report.pdf' });",
  list_files: `for await (const file of convoke.sessions.at(sessionId).files.list()) {
  console.log(file.name, file.status);
}`,
  upload_file: 'await convoke.sessions.at(sessionId).files.put(fileId, bytes);',
  download_file: 'const content = await convoke.sessions.at(sessionId).files.download(fileId);',
  delete_file: 'await convoke.sessions.at(sessionId).files.delete(fileId);',

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

  get_health: undefined,
  get_readiness: undefined,
  get_openapi: undefined,
  get_docs: undefined,
  get_guide: undefined,
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
