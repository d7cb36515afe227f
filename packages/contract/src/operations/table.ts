import type { Operation } from '../operation.ts';
import { getAuditStatus, listAudit } from './audit.ts';
import { getAgent, invokeAgent, listAgents } from './agents.ts';
import { deleteBudget, getBudget, listBudgets, setBudget } from './budgets.ts';
import { receiveCallback } from './runs/callbacks.ts';
import {
  createClient,
  deleteClient,
  getClient,
  listClients,
  listProfiles,
  updateClient,
} from './clients.ts';
import { deleteConnection, listConnections, putConnection } from './connections/connections.ts';
import {
  beginConnection,
  deleteSessionConnection,
  listSessionConnections,
  putSessionConnection,
} from './connections/session-connections.ts';
import { addCredential, revokeCredential } from './credentials.ts';
import { runAgUi, runSessionAgUi } from './faces/ag-ui.ts';
import { getAgentCard, callPublishedAgent } from './faces/a2a.ts';
import { callMcp, resumeMcp } from './faces/mcp.ts';
import { listUiMessages, resumeUiStream, sendUiMessage } from './faces/ai-sdk.ts';
import { followTenantEvents } from './feed.ts';
import { deleteFeedback, listFeedback, putFeedback } from './feedback.ts';
import { deleteFile, downloadFile, listFiles, prepareFile, uploadFile } from './files.ts';
import { answerInteraction, forgetInteraction, listInteractions } from './interactions.ts';
import { getJwks, getMetadata, getResourceMetadata, issueToken } from './oauth.ts';
import {
  acceptInvitation,
  createInvitation,
  listInvitations,
  readInvitation,
  revokeInvitation,
  signUp,
} from './invitations.ts';
import {
  getMe,
  getOrganization,
  listMembers,
  removeMember,
  signOutMember,
  updateMember,
} from './organizations.ts';
import { getRules, setRules, tryRules } from './rules.ts';
import {
  createSchedule,
  deleteSchedule,
  getSchedule,
  listFires,
  listSchedules,
  pauseSchedule,
  previewSchedule,
  resumeSchedule,
  runSchedule,
  updateSchedule,
} from './schedules.ts';
import {
  getDocs,
  getGuide,
  getHealth,
  getOpenapi,
  getReadiness,
  getReferencePage,
  getSearchIndex,
  getSystem,
} from './system.ts';
import {
  cancelRun,
  followRunEvents,
  getRun,
  listRuns,
  signalRun,
  startRun,
  updateRun,
} from './runs.ts';
import {
  createSession,
  getSession,
  listSessions,
  resumeSession,
  stopSession,
  updateSession,
} from './sessions.ts';
import { createSessionToken } from './session-tokens.ts';
import {
  findInteraction,
  findRun,
  getOverview,
  listTenantInteractions,
  listTenantRuns,
} from './tenant-reads.ts';
import { createTenant, getTenant, listTenants, offboardTenant, retryTenant } from './tenants.ts';
import { readOrganizationUsage, readUsage } from './usage.ts';
import {
  createWebhook,
  deleteWebhook,
  getDelivery,
  getWebhook,
  listDeliveries,
  listWebhooks,
  redeliver,
  replayWebhook,
  rotateWebhook,
  testWebhook,
  updateWebhook,
} from './webhooks.ts';
import { listWorkspaces, whoami } from './workspaces.ts';

/** Every operation of the service by its id, in the order the API description shows them. */
export const operations = {
  issue_token: issueToken,
  get_metadata: getMetadata,
  get_resource_metadata: getResourceMetadata,
  get_jwks: getJwks,

  list_workspaces: listWorkspaces,
  whoami,

  list_agents: listAgents,
  get_agent: getAgent,
  invoke_agent: invokeAgent,

  create_session: createSession,
  list_sessions: listSessions,
  get_session: getSession,
  update_session: updateSession,
  stop_session: stopSession,
  resume_session: resumeSession,
  create_session_token: createSessionToken,

  start_run: startRun,
  list_runs: listRuns,
  get_run: getRun,
  update_run: updateRun,
  follow_run_events: followRunEvents,
  cancel_run: cancelRun,

  put_feedback: putFeedback,
  list_feedback: listFeedback,
  delete_feedback: deleteFeedback,

  list_tenant_runs: listTenantRuns,
  find_run: findRun,
  signal_run: signalRun,
  receive_callback: receiveCallback,
  get_overview: getOverview,

  list_interactions: listInteractions,
  answer_interaction: answerInteraction,
  forget_interaction: forgetInteraction,

  list_tenant_interactions: listTenantInteractions,
  find_interaction: findInteraction,

  follow_tenant_events: followTenantEvents,

  prepare_file: prepareFile,
  list_files: listFiles,
  upload_file: uploadFile,
  download_file: downloadFile,
  delete_file: deleteFile,

  send_ui_message: sendUiMessage,
  resume_ui_stream: resumeUiStream,
  list_ui_messages: listUiMessages,

  run_ag_ui: runAgUi,
  run_session_ag_ui: runSessionAgUi,
  get_agent_card: getAgentCard,
  call_published_agent: callPublishedAgent,
  call_mcp: callMcp,
  resume_mcp: resumeMcp,

  create_schedule: createSchedule,
  list_schedules: listSchedules,
  get_schedule: getSchedule,
  update_schedule: updateSchedule,
  delete_schedule: deleteSchedule,
  pause_schedule: pauseSchedule,
  resume_schedule: resumeSchedule,
  run_schedule: runSchedule,
  list_fires: listFires,
  preview_schedule: previewSchedule,
  read_usage: readUsage,
  read_organization_usage: readOrganizationUsage,
  list_budgets: listBudgets,
  set_budget: setBudget,
  get_budget: getBudget,
  delete_budget: deleteBudget,

  create_webhook: createWebhook,
  list_webhooks: listWebhooks,
  get_webhook: getWebhook,
  update_webhook: updateWebhook,
  delete_webhook: deleteWebhook,
  rotate_webhook: rotateWebhook,
  test_webhook: testWebhook,
  list_deliveries: listDeliveries,
  get_delivery: getDelivery,
  redeliver,
  replay_webhook: replayWebhook,

  put_connection: putConnection,
  list_connections: listConnections,
  delete_connection: deleteConnection,
  list_session_connections: listSessionConnections,
  put_session_connection: putSessionConnection,
  delete_session_connection: deleteSessionConnection,
  begin_connection: beginConnection,

  list_clients: listClients,
  list_profiles: listProfiles,
  create_client: createClient,
  get_client: getClient,
  update_client: updateClient,
  delete_client: deleteClient,

  add_credential: addCredential,
  revoke_credential: revokeCredential,

  list_tenants: listTenants,
  create_tenant: createTenant,
  get_tenant: getTenant,
  retry_tenant: retryTenant,
  offboard_tenant: offboardTenant,

  get_me: getMe,
  get_organization: getOrganization,
  list_members: listMembers,
  update_member: updateMember,
  remove_member: removeMember,
  sign_out_member: signOutMember,
  create_invitation: createInvitation,
  list_invitations: listInvitations,
  revoke_invitation: revokeInvitation,
  read_invitation: readInvitation,
  accept_invitation: acceptInvitation,
  sign_up: signUp,
  get_rules: getRules,
  set_rules: setRules,
  try_rules: tryRules,

  list_audit: listAudit,
  get_audit_status: getAuditStatus,

  get_system: getSystem,
  get_health: getHealth,
  get_readiness: getReadiness,
  get_openapi: getOpenapi,
  get_docs: getDocs,
  get_guide: getGuide,
  get_reference_page: getReferencePage,
  get_search_index: getSearchIndex,
} as const satisfies Record<string, Operation>;

export type Operations = typeof operations;
export type OperationId = keyof Operations;

/** The same table as a list. */
export const operationList: readonly Operation[] = Object.values(operations);
