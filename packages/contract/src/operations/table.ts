import type { Operation } from '../operation.ts';
import { invokeAgent, listAgents } from './agents.ts';
import {
  createClient,
  deleteClient,
  getClient,
  listClients,
  listProfiles,
  updateClient,
} from './clients.ts';
import { addCredential, revokeCredential } from './credentials.ts';
import { deleteFile, downloadFile, listFiles, prepareFile, uploadFile } from './files.ts';
import { answerInteraction, listInteractions } from './interactions.ts';
import { getJwks, getMetadata, issueToken } from './oauth.ts';
import { cancelRun, followRunEvents, getRun, listRuns, startRun } from './runs.ts';
import { createSession, getSession, listSessions, resumeSession, stopSession } from './sessions.ts';
import { getDocs, getGuide, getHealth, getOpenapi, getReadiness } from './system.ts';
import { createTenant, getTenant, listTenants, offboardTenant, retryTenant } from './tenants.ts';
import { listWorkspaces, whoami } from './workspaces.ts';

/** Every operation of the service by its id, in the order the API description shows them. */
export const operations = {
  issue_token: issueToken,
  get_metadata: getMetadata,
  get_jwks: getJwks,

  list_workspaces: listWorkspaces,
  whoami,

  list_agents: listAgents,
  invoke_agent: invokeAgent,

  create_session: createSession,
  list_sessions: listSessions,
  get_session: getSession,
  stop_session: stopSession,
  resume_session: resumeSession,

  start_run: startRun,
  list_runs: listRuns,
  get_run: getRun,
  follow_run_events: followRunEvents,
  cancel_run: cancelRun,

  list_interactions: listInteractions,
  answer_interaction: answerInteraction,

  prepare_file: prepareFile,
  list_files: listFiles,
  upload_file: uploadFile,
  download_file: downloadFile,
  delete_file: deleteFile,

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

  get_health: getHealth,
  get_readiness: getReadiness,
  get_openapi: getOpenapi,
  get_docs: getDocs,
  get_guide: getGuide,
} as const satisfies Record<string, Operation>;

export type Operations = typeof operations;
export type OperationId = keyof Operations;

/** The same table as a list. */
export const operationList: readonly Operation[] = Object.values(operations);
