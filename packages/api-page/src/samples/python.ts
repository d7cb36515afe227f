import type { OperationId } from '@convoke/contract';
import type { Call } from './call.ts';
import { sampleOf } from './client-sample.ts';
import { plainPythonOf } from './plain-python.ts';
import type { Plain } from './sdk.ts';

/** How every other operation is called with `convoke_sdk`; undefined where a program does not call it itself. */
const calls: Readonly<Record<Exclude<OperationId, Plain>, string | undefined>> = {
  issue_token: `from convoke_sdk import Convoke

# The client obtains and renews its tokens automatically.
convoke = Convoke(base_url=base_url, client_id=client_id, client_secret=client_secret, tenant_id=tenant_id)`,
  get_metadata: undefined,
  get_resource_metadata: undefined,
  get_jwks: undefined,
  list_workspaces: `for workspace in convoke.workspaces():
    print(workspace["organization_id"], workspace["tenant"]["tenant_id"])`,
  whoami: 'scopes = convoke.whoami()["scopes"]',
  invoke_agent: `run = convoke.agents.invoke("demo", "Summarise the release.")
for event in run.follow():
    if event["type"] == "message_delta":
        print(event["data"]["text"], end="", flush=True)`,
  create_session: 'session = convoke.sessions.create("demo")',
  list_sessions: `for session in convoke.sessions.list(status="waiting"):
    print(session.id)`,
  get_session: 'session = convoke.sessions.get(session_id)',
  stop_session: 'convoke.sessions.at(session_id).stop(mode="suspend")',
  resume_session: 'convoke.sessions.at(session_id).resume()',
  create_session_token:
    'token = convoke.sessions.at(session_id).create_token(end_user="user-7")["token"]',
  start_run: 'run = convoke.sessions.at(session_id).run("Summarise the release.")',
  list_runs: `for run in convoke.sessions.at(session_id).runs.list(status="failed"):
    print(run.id, run.record.get("error_code"))`,
  get_run: 'run = convoke.sessions.at(session_id).runs.get(run_id)',
  follow_run_events: `run = convoke.sessions.at(session_id).runs.at(run_id)
for event in run.follow(on_permission=lambda request: "allow"):
    if event["type"] == "message_delta":
        print(event["data"]["text"], end="", flush=True)`,
  signal_run: 'convoke.sessions.at(session_id).runs.at(run_id).signal("paid", data={"amount": 20})',
  receive_callback: undefined,
  cancel_run: 'convoke.sessions.at(session_id).runs.at(run_id).cancel()',
  put_feedback: `run = convoke.sessions.at(session_id).runs.at(run_id)
run.feedback.put("rating", score=1, comment="Right team.")`,
  list_feedback: `for feedback in convoke.sessions.at(session_id).runs.at(run_id).feedback.list():
    print(feedback["key"], feedback.get("score"), feedback["author"]["id"])`,
  delete_feedback: 'convoke.sessions.at(session_id).runs.at(run_id).feedback.delete("rating")',
  list_session_connections: `for account in convoke.sessions.at(session_id).connections.list():
    print(account["service"], account["status"])`,
  put_session_connection: `convoke.sessions.at(session_id).connections.put(
    "github", auth={"type": "bearer", "token": "a-token-of-the-service"}
)`,
  begin_connection: `begun = convoke.sessions.at(session_id).connections.begin(
    "github", return_url="https://app.example.com/connected"
)
print(begun["connect_url"])`,
  delete_session_connection: 'convoke.sessions.at(session_id).connections.delete("github")',
  list_interactions: `for interaction in convoke.sessions.at(session_id).interactions.pending():
    print(interaction["interaction_key"], interaction["kind"])`,
  answer_interaction: `convoke.sessions.at(session_id).interactions.answer(
    interaction_key,
    {"decision": "allow", "updated_input": {"path": "note.txt", "text": "Hello"}},
)`,
  forget_interaction: 'convoke.sessions.at(session_id).interactions.forget(interaction_key)',
  update_session:
    'convoke.sessions.at(session_id).update(title="Release notes", labels={"ticket": "OPS-1204"})',
  update_run:
    'convoke.sessions.at(session_id).runs.at(run_id).update(labels={"ticket": "OPS-1204"})',
  list_tenant_runs: `for run in convoke.runs.list(status=["failed"], label=["ticket:OPS-1204"]):
    print(run["id"], run.get("error_code"), run["preview"])`,
  // Chat libraries call these.
  send_ui_message: undefined,
  resume_ui_stream: undefined,
  list_ui_messages: undefined,
  run_ag_ui: undefined,
  run_session_ag_ui: undefined,
  // Clients of the A2A protocol call these.
  get_agent_card: undefined,
  call_published_agent: undefined,
  // Clients of the Model Context Protocol call these.
  call_mcp: undefined,
  resume_mcp: undefined,
  find_run: 'run = convoke.runs.get(run_id)',
  get_overview:
    'overview = convoke.overview()\nprint(overview["runs"], overview["pending_interactions"])',
  list_tenant_interactions: `for interaction in convoke.interactions.list():
    print(interaction["interaction_key"], interaction["agent_name"], interaction.get("tool_name"))`,
  find_interaction: 'interaction = convoke.interactions.get(interaction_key)',
  follow_tenant_events: `last_id = None
for notice in convoke.feed.follow(after=last_id):
    print(notice["id"], notice["type"], notice.get("run_id"))
    last_id = notice["id"]`,
  prepare_file: 'file = convoke.sessions.at(session_id).files.prepare(name="report.pdf")',
  list_files: `for file in convoke.sessions.at(session_id).files.list():
    print(file["name"], file["status"])`,
  upload_file: 'convoke.sessions.at(session_id).files.put(file_id, content)',
  download_file: 'content = convoke.sessions.at(session_id).files.download(file_id).read()',
  delete_file: 'convoke.sessions.at(session_id).files.delete(file_id)',
  create_schedule: `schedule = convoke.schedules.create(
    name="Morning report",
    agent_name="demo",
    cron="0 9 * * 1-5",
    time_zone="Europe/Berlin",
    input="Report on yesterday.",
)
print(schedule["id"], schedule.get("next_at"))`,
  run_schedule: 'run = convoke.schedules.run(schedule_id)',
  preview_schedule: 'times = convoke.schedules.preview(schedule_id, count=5)',
  read_usage: `for row in convoke.usage.list(group_by="agent"):
    print(row.get("group"), row.get("cost", 0) / 1_000_000, row.get("currency"))`,
  read_organization_usage: `for row in admin.usage.list(group_by="tenant"):
    print(row.get("group"), row.get("cost", 0) / 1_000_000)`,
  replay_webhook: 'convoke.webhooks.replay(webhook_id, after_id="0000000000000042")',
  update_client: 'admin.clients.update(client_id, version=1, status="disabled")',
  get_me: 'memberships = convoke.me()["memberships"]',
  get_organization:
    'organization = admin.organization()\nprint(organization["name"], organization["counts"])',
  get_system: 'system = convoke.system()\nprint(system["version"], system["limits"])',
  read_invitation: undefined,
  accept_invitation:
    'organization_id = convoke.accept_invitation(secret=secret)["organization_id"]',
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
  convoke: `from convoke_sdk import Convoke

convoke = Convoke(base_url=base_url, client_id=client_id, client_secret=client_secret, tenant_id=tenant_id)`,
  admin: `from convoke_sdk import ConvokeAdmin

admin = ConvokeAdmin(base_url=base_url, token=token, organization_id=organization_id)`,
};

/** Renders the operation as a call of the Python client. */
export function pythonOf(call: Call): string | undefined {
  return sampleOf(call, { plain: plainPythonOf, calls, connections });
}
