// Where each operation stands in the Python client. Operations of the contract that name a method (`sdk`) keep it; the
// others are here, or become methods of the client itself.
import { type Operation, operationList } from '../../contract/src/index.ts';

/** A method that is one request. */
export interface Place {
  readonly noun: string;
  readonly method: string;
  /** The class that a returned record is wrapped in. */
  readonly wraps?: 'Run' | 'Session';
}

/** A class of requests. */
export interface Noun {
  readonly about: string;
  /** Path parameters that the object knows. */
  readonly bound?: readonly string[];
  /** The hand-written class with its other methods, and its file in `_async`. */
  readonly base?: readonly [file: string, name: string];
}

export const nouns: Readonly<Record<string, Noun>> = {
  Account: { about: 'What the credentials can access.' },
  Agents: {
    about: 'The agents that are enabled for the workspace.',
    base: ['agents', 'Invoking'],
  },
  Sessions: { about: 'The sessions of the workspace.', base: ['sessions', 'SessionFinding'] },
  SessionHandle: {
    about: 'A session by its id. Creating it sends no request.',
    bound: ['session_id'],
    base: ['sessions', 'SessionParts'],
  },
  Runs: {
    about: 'The runs of one session.',
    bound: ['session_id'],
    base: ['runs', 'RunStarting'],
  },
  RunHandle: {
    about: 'A run by its ids. Creating it sends no request.',
    bound: ['session_id', 'run_id'],
    base: ['runs', 'RunFollowing'],
  },
  Feedback: {
    about: 'The feedback on one run.',
    bound: ['session_id', 'run_id'],
    base: ['runs', 'FeedbackListing'],
  },
  SessionConnections: {
    about: 'The accounts that the agent of one session uses.',
    bound: ['session_id'],
    base: ['sessions', 'SessionConnectionListing'],
  },
  TenantRuns: { about: 'The runs of all sessions of the workspace.' },
  Interactions: {
    about: 'Questions and permission requests of one session.',
    bound: ['session_id'],
    base: ['sessions', 'SessionAnswering'],
  },
  TenantInteractions: {
    about: 'Pending requests in all sessions of the workspace.',
    base: ['sessions', 'TenantAnswering'],
  },
  Files: {
    about: 'The files of one session.',
    bound: ['session_id'],
    base: ['files', 'FileContents'],
  },
  Feed: {
    about: 'Everything that happens in the workspace, as numbered notices.',
    base: ['feed', 'FeedFollowing'],
  },
  Schedules: {
    about:
      'The schedules of the workspace: each starts runs of an agent at the times of a cron pattern.',
    base: ['schedules', 'SchedulePreviewing'],
  },
  Webhooks: {
    about:
      'The webhooks of the workspace: URLs that get its notices, signed. Receivers use `verify_webhook`.',
  },
  Connections: {
    about: 'The accounts of the workspace and of its end users for services that agents use.',
  },
  Usage: {
    about: 'Tokens, costs and runs of the tenant. Costs are in millionths of the currency.',
  },
  Service: { about: 'What the server says about itself, without an account.' },
  Organization: { about: 'The organization of a person.', bound: ['organization_id'] },
  OrganizationUsage: {
    about: 'Tokens, costs and runs of the organization. Costs are in millionths of the currency.',
    bound: ['organization_id'],
  },
  Audit: { about: 'The audit log of the organization.', bound: ['organization_id'] },
  Budgets: {
    about: 'The budgets of the organization. Costs are in millionths of the currency.',
    bound: ['organization_id'],
  },
  Clients: {
    about:
      'The automation clients of the organization. Paths take the record id (`cli_…`), not the OAuth client id.',
    bound: ['organization_id'],
  },
  Credentials: {
    about: 'The secrets of automation clients, to rotate them: add, deploy, revoke the old one.',
    bound: ['organization_id'],
  },
  Invitations: {
    about:
      'The open invitations of the organization. The secret of one is in the response that creates it.',
    bound: ['organization_id'],
  },
  Members: {
    about: 'The people of the organization. Invitations add them.',
    bound: ['organization_id'],
  },
  Rules: {
    about: 'The rules of the organization about tool calls: one document.',
    bound: ['organization_id'],
  },
  Tenants: {
    about:
      'The tenants of the organization. One is usable when it is `active` and its attachment is `ready`.',
    bound: ['organization_id'],
  },
};

/** Operations without a method in the contract. */
const others: Readonly<Record<string, readonly Place[]>> = {
  issue_token: [{ noun: 'Service', method: 'token' }],
  get_metadata: [{ noun: 'Service', method: 'metadata' }],
  get_resource_metadata: [{ noun: 'Service', method: 'resource_metadata' }],
  get_jwks: [{ noun: 'Service', method: 'jwks' }],
  get_health: [{ noun: 'Service', method: 'health' }],
  get_readiness: [{ noun: 'Service', method: 'readiness' }],
  get_openapi: [{ noun: 'Service', method: 'openapi' }],
  get_docs: [{ noun: 'Service', method: 'docs' }],
  get_guide: [{ noun: 'Service', method: 'guide' }],
  get_reference_page: [{ noun: 'Service', method: 'reference_page' }],
  get_search_index: [{ noun: 'Service', method: 'search_index' }],
  get_agent_card: [{ noun: 'Service', method: 'agent_card' }],
  list_workspaces: [
    { noun: 'Account', method: 'workspaces' },
    { noun: 'Organization', method: 'workspaces' },
  ],
  whoami: [{ noun: 'Account', method: 'whoami' }],
  get_me: [{ noun: 'Account', method: 'me' }],
  get_system: [{ noun: 'Account', method: 'system' }],
  get_overview: [{ noun: 'Account', method: 'overview' }],
  create_session: [{ noun: 'Sessions', method: 'create', wraps: 'Session' }],
  list_sessions: [{ noun: 'Sessions', method: 'list', wraps: 'Session' }],
  get_session: [
    { noun: 'Sessions', method: 'get', wraps: 'Session' },
    { noun: 'SessionHandle', method: 'read' },
  ],
  update_session: [{ noun: 'SessionHandle', method: 'update' }],
  stop_session: [{ noun: 'SessionHandle', method: 'stop' }],
  resume_session: [{ noun: 'SessionHandle', method: 'resume' }],
  create_session_token: [{ noun: 'SessionHandle', method: 'create_token' }],
  list_runs: [{ noun: 'Runs', method: 'list', wraps: 'Run' }],
  get_run: [
    { noun: 'Runs', method: 'get', wraps: 'Run' },
    { noun: 'RunHandle', method: 'read' },
  ],
  update_run: [{ noun: 'RunHandle', method: 'update' }],
  cancel_run: [{ noun: 'RunHandle', method: 'cancel' }],
  signal_run: [{ noun: 'RunHandle', method: 'signal' }],
  put_feedback: [{ noun: 'Feedback', method: 'put' }],
  delete_feedback: [{ noun: 'Feedback', method: 'delete' }],
  put_session_connection: [{ noun: 'SessionConnections', method: 'put' }],
  begin_connection: [{ noun: 'SessionConnections', method: 'begin' }],
  delete_session_connection: [{ noun: 'SessionConnections', method: 'delete' }],
  follow_run_events: [{ noun: 'RunHandle', method: 'events' }],
  list_tenant_runs: [{ noun: 'TenantRuns', method: 'list' }],
  find_run: [{ noun: 'TenantRuns', method: 'get', wraps: 'Run' }],
  list_interactions: [{ noun: 'Interactions', method: 'list' }],
  answer_interaction: [{ noun: 'Interactions', method: 'answer' }],
  forget_interaction: [{ noun: 'Interactions', method: 'forget' }],
  list_tenant_interactions: [{ noun: 'TenantInteractions', method: 'list' }],
  find_interaction: [{ noun: 'TenantInteractions', method: 'get' }],
  follow_tenant_events: [{ noun: 'Feed', method: 'list' }],
  prepare_file: [{ noun: 'Files', method: 'prepare' }],
  list_files: [{ noun: 'Files', method: 'list' }],
  delete_file: [{ noun: 'Files', method: 'delete' }],
  create_schedule: [{ noun: 'Schedules', method: 'create' }],
  run_schedule: [{ noun: 'Schedules', method: 'run', wraps: 'Run' }],
  read_usage: [{ noun: 'Usage', method: 'list' }],
  read_organization_usage: [{ noun: 'OrganizationUsage', method: 'list' }],
  replay_webhook: [{ noun: 'Webhooks', method: 'replay' }],
  update_client: [{ noun: 'Clients', method: 'update' }],
  get_organization: [{ noun: 'Organization', method: 'organization' }],
};

/** Operations whose methods are written by hand, in `_async`: they carry streams or files, or unpack a list. */
export const handWritten: Readonly<Record<string, string>> = {
  invoke_agent: 'Agents.invoke',
  start_run: 'Runs.start',
  list_feedback: 'Feedback.list',
  list_session_connections: 'SessionConnections.list',
  upload_file: 'Files.put',
  download_file: 'Files.download',
  preview_schedule: 'Schedules.preview',
};

/**
 * Operations that have no method: client libraries of other protocols call those of faces, and a callback URL is called
 * by the program that it was given to.
 */
export const foreign: ReadonlySet<string> = new Set(
  operationList.flatMap(({ id, tag }) => {
    const isOfFace = tag === 'Faces' && !(id in others);
    return isOfFace || id === 'receive_callback' ? [id] : [];
  }),
);

/** Fields of a body that need no name in a call. */
export const positional: Readonly<Record<string, readonly string[]>> = {
  create_session: ['agent_name'],
  signal_run: ['name', 'data'],
};

/** POST and PATCH without a key that may be sent again: the service returns the same result the second time. */
const repeatable = new Set([
  'issue_token',
  'update_session',
  'stop_session',
  'resume_session',
  'create_session_token',
  'update_run',
  'cancel_run',
  'answer_interaction',
]);

/** Words of the language, which get an underscore behind them as PEP 8 says. */
const words: ReadonlySet<string> = new Set(['try']);

export function placesOf(operation: Operation): readonly Place[] {
  const { id, sdk } = operation;
  if (id in handWritten || foreign.has(id)) return [];
  if (sdk === undefined) return others[id] ?? [ofAccount(operation)];
  const [noun = '', method = ''] = sdk.method.split('.');
  const name = `${noun[0]?.toUpperCase()}${noun.slice(1)}`;
  const spelled = words.has(method) ? `${method}_` : method;
  // A noun that the table does not know yet has no class: its methods stand on the client itself.
  return name in nouns ? [{ noun: name, method: spelled }] : [ofAccount(operation)];
}

/** The place of an operation that is not listed: a method of the client itself, under the operation's own name. */
function ofAccount({ id, path }: Operation): Place {
  const isOfOrganization = path.startsWith('/v1/organizations/{organization_id}');
  return { noun: isOfOrganization ? 'Organization' : 'Account', method: id };
}

/** Whether a request may be sent again after a lost response. */
export function isRepeatable(operation: Operation): boolean {
  const { id, method, sdk, headers } = operation;
  if (method !== 'POST' && method !== 'PATCH') return true;
  const hasKey = headers?.['idempotency-key'] !== undefined;
  return hasKey || sdk?.repeatable === true || repeatable.has(id);
}

export function operationsOf(noun: string): readonly (readonly [Operation, Place])[] {
  return operationList.flatMap((operation) =>
    placesOf(operation)
      .filter((place) => place.noun === noun)
      .map((place) => [operation, place] as const),
  );
}
