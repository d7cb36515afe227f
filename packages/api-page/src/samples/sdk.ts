import { type OperationId, type Operations } from '@convoke/contract';
import type { Call } from './call.ts';
import { sampleOf } from './client-sample.ts';
import { plainCallOf } from './plain-sdk.ts';

/** Operations whose method is generated; so is their example. */
export type Plain = {
  [Id in OperationId]: Operations[Id] extends { readonly sdk: object } ? Id : never;
}[OperationId];

/** How every other operation is called with `@convoke/sdk`; undefined where a program does not call it itself. */
const calls: Readonly<Record<Exclude<OperationId, Plain>, string | undefined>> = {
  issue_token: `import { Convoke } from '@convoke/sdk';

// The client obtains and renews its tokens automatically.
const convoke = new Convoke({ baseUrl, clientId, clientSecret, workspace: { tenantId } });`,
  get_metadata: undefined,
  get_resource_metadata: undefined,
  get_jwks: undefined,
  list_workspaces: `for await (const { organization_id, tenant } of convoke.workspaces()) {
  console.log(organization_id, tenant.tenant_id);
}`,
  whoami: 'const { scopes } = await convoke.whoami();',
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
  create_session_token:
    "const { token } = await convoke.sessions.at(sessionId).createToken({ end_user: 'user-7' });",
  start_run: "const run = await convoke.sessions.at(sessionId).run('Summarise the release.');",
  list_runs: `for await (const run of convoke.sessions.at(sessionId).runs.list({ status: 'failed' })) {
  console.log(run.id, run.record.error_code);
}`,
  get_run: 'const run = await convoke.sessions.at(sessionId).runs.get(runId);',
  follow_run_events: `const run = convoke.sessions.at(sessionId).runs.at(runId);
for await (const event of run.follow({ onPermission: () => 'allow' })) {
  if (event.type === 'message_delta') process.stdout.write(event.data.text);
}`,
  signal_run: `await convoke.sessions.at(sessionId).runs.at(runId).signal('paid', { amount: 20 });`,
  receive_callback: undefined,
  cancel_run: 'await convoke.sessions.at(sessionId).runs.at(runId).cancel();',
  put_feedback: `const run = convoke.sessions.at(sessionId).runs.at(runId);
await run.feedback.put('rating', { score: 1, comment: 'Right team.' });`,
  list_feedback: `const run = convoke.sessions.at(sessionId).runs.at(runId);
for (const { key, score, author } of await run.feedback.list()) console.log(key, score, author.id);`,
  delete_feedback: `await convoke.sessions.at(sessionId).runs.at(runId).feedback.delete('rating');`,
  list_session_connections: `const session = convoke.sessions.at(sessionId);
for (const { service, status } of await session.connections.list()) console.log(service, status);`,
  put_session_connection: `await convoke.sessions.at(sessionId).connections.put('github', {
  auth: { type: 'bearer', token: 'a-token-of-the-service' },
});`,
  begin_connection: `const { connect_url } = await convoke.sessions
  .at(sessionId)
  .connections.begin('github', { return_url: 'https://app.example.com/connected' });
console.log(connect_url);`,
  delete_session_connection: `await convoke.sessions.at(sessionId).connections.delete('github');`,
  list_interactions: `for await (const { interaction_key, kind } of convoke.sessions.at(sessionId).interactions.pending()) {
  console.log(interaction_key, kind);
}`,
  answer_interaction: `await convoke.sessions.at(sessionId).interactions.answer(interactionKey, {
  decision: 'allow',
  updated_input: { path: 'note.txt', text: 'Hello' },
});`,
  forget_interaction: `await convoke.sessions.at(sessionId).interactions.forget(interactionKey);`,
  update_session: `await convoke.sessions.at(sessionId).update({ title: 'Release notes', labels: { ticket: 'OPS-1204' } });`,
  update_run: `await convoke.sessions.at(sessionId).runs.at(runId).update({ labels: { ticket: 'OPS-1204' } });`,
  list_tenant_runs: `for await (const run of convoke.runs.list({ status: ['failed'], label: ['ticket:OPS-1204'] })) {
  console.log(run.id, run.error_code, run.preview);
}`,
  send_ui_message: `const message = { id: 'message-1', role: 'user', parts: [{ type: 'text', text: 'Hello' }] };
const run = await convoke.sessions.at(sessionId).uiMessages.send(message);`,
  resume_ui_stream: `import { ConvokeChatTransport } from '@convoke/sdk/ai-sdk';

// The transport of useChat() does it automatically.
const session = convoke.sessions.at(sessionId);
const chunks = await new ConvokeChatTransport({ session }).reconnectToStream();`,
  list_ui_messages:
    'const { items: messages } = await convoke.sessions.at(sessionId).uiMessages.list().page();',
  run_ag_ui: `import { HttpAgent } from '@ag-ui/client';

const url = \`\${baseUrl}/v1/agents/demo/ag-ui\`;
const agent = new HttpAgent({ url, threadId: 'thread-1', fetch: convoke.fetch });
agent.addMessage({ id: 'message-1', role: 'user', content: 'Hello' });
await agent.runAgent();`,
  run_session_ag_ui: `import { HttpAgent } from '@ag-ui/client';

// In a page, with a token of this session.
const url = \`\${baseUrl}/v1/sessions/\${sessionId}/ag-ui\`;
const agent = new HttpAgent({ url, headers: { authorization: \`Bearer \${token}\` } });`,
  // Clients of the A2A protocol call these.
  get_agent_card: undefined,
  call_published_agent: undefined,
  // Clients of the Model Context Protocol call these.
  call_mcp: undefined,
  resume_mcp: undefined,
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
  run_schedule: 'const run = await convoke.schedules.run(scheduleId);',
  preview_schedule: 'const times = await convoke.schedules.preview(scheduleId, { count: 5 });',
  read_usage: `for await (const { group, cost = 0, currency } of convoke.usage.list({ group_by: 'agent' })) {
  console.log(group, cost / 1_000_000, currency);
}`,
  read_organization_usage: `for await (const { group, cost = 0 } of admin.usage.list({ group_by: 'tenant' })) {
  console.log(group, cost / 1_000_000);
}`,
  replay_webhook: "await convoke.webhooks.replay(webhookId, { afterId: '0000000000000042' });",
  update_client: "await admin.clients.update(clientId, { version: 1, status: 'disabled' });",
  get_me: 'const { memberships } = await convoke.me();',
  get_organization: 'const { name, counts } = await admin.organization();',
  get_system: 'const { version, limits } = await convoke.system();',
  read_invitation: undefined,
  accept_invitation: 'const { organization_id } = await convoke.acceptInvitation(secret);',
  sign_up: undefined,
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
export function sdkOf(call: Call): string | undefined {
  return sampleOf(call, { plain: plainCallOf, calls, connections });
}
