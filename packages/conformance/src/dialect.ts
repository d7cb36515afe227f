import { isRecord } from './failure.ts';

/**
 * Details that the specification leaves open: the token request, names of fields and statuses, bodies of answers
 * (D-229). `{name}` in a string is replaced. This is Convoke's dialect; `--dialect FILE` replaces any part.
 */
export const convokeDialect = {
  name: 'convoke',
  token: {
    path: '/v1/oauth/token',
    /** `basic` sends id and secret as HTTP Basic; `form` as fields of the form. */
    authentication: 'basic',
    form: { grant_type: 'client_credentials' } as Readonly<Record<string, string>>,
    access_token: 'access_token',
    expires_in: 'expires_in',
  },
  workspace: { list: 'workspaces', tenant_id: 'tenant.tenant_id' },
  agent: { list: 'agents', name: 'name' },
  session: {
    list: 'sessions',
    list_query: '?limit=100',
    stop: {} as object,
    terminate: { mode: 'terminate' } as object,
  },
  run: {
    list: 'runs',
    list_query: '?limit=100',
    completed: 'completed',
    failed: 'failed',
    cancelled: 'cancelled',
    input: { prompt: '{prompt}' } as object,
    invoke: { input: { prompt: '{prompt}' } } as object,
  },
  interaction: {
    list: 'interactions',
    filter: 'status',
    pending: 'pending',
    answered: 'answered',
    allow: { decision: 'allow' } as object,
    deny: { decision: 'deny' } as object,
    answer: { answer: '{answer}' } as object,
    decision_field: 'decision',
    answer_field: 'answer',
    question_field: 'question',
  },
  file: {
    list: 'files',
    id: 'id',
    prepare: { name: '{name}', content_type: 'application/octet-stream' } as object,
  },
  client: {
    scopes: 'scopes',
    /** Scopes that allow to read agents, and to read sessions. */
    read_agents: 'agents:read',
    read_sessions: 'sessions:read',
  },
  profiles: { profiles: 'profiles', scopes: 'scopes', version: 'catalog_version' },
  credential: { record: 'credential', secret: 'client_secret', expires_at: 'expires_at' },
  tenant: { list: 'tenants', record: '', attachment: 'attachment_state', mode: 'saas' },
};

export type Dialect = typeof convokeDialect;

/** Convoke's dialect with the parts that a file replaces. Throws for a part that there is not. */
export function readDialect(text: string): Dialect {
  const given: unknown = JSON.parse(text);
  return merged(convokeDialect, given, 'dialect') as Dialect;
}

function merged(known: unknown, given: unknown, path: string): unknown {
  if (given === undefined) return known;
  // Bodies are replaced as a whole.
  const isBody = isRecord(known) && isFree(path);
  if (isRecord(known) && !isBody) {
    if (!isRecord(given)) throw new Error(`${path} must be an object`);
    for (const name of Object.keys(given)) {
      if (!Object.hasOwn(known, name)) throw new Error(`${path}.${name} is unknown`);
    }
    const parts = Object.entries(known).map(([name, part]) => [
      name,
      merged(part, given[name], `${path}.${name}`),
    ]);
    return Object.fromEntries(parts) as unknown;
  }
  if (typeof given !== typeof known) throw new Error(`${path} must be of type ${typeof known}`);
  return given;
}

function isFree(path: string): boolean {
  return /\.(form|stop|terminate|input|invoke|allow|deny|answer|prepare)$/.test(path);
}
