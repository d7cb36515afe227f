import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type AgentRole, agentRoles, usualName } from './agents.ts';
import type { Credentials } from './caller.ts';
import { type Dialect, convokeDialect, readDialect } from './dialect.ts';
import { type ExpectedFailures, readExpectedFailures } from './expected-failures.ts';
import { requirements } from './requirements/requirements.ts';

/** A wrong option: exit status 2. */
export class UsageError extends Error {}

export interface Options {
  readonly baseUrl: string;
  readonly credentials: Credentials;
  readonly ownerToken: string | undefined;
  readonly organizationId: string | undefined;
  readonly tenantId: string | undefined;
  readonly agentNames: Readonly<Record<AgentRole, string>>;
  readonly dialect: Dialect;
  readonly level: 'specification' | 'convoke';
  /** Beginnings of the ids of requirements; all without it. */
  readonly only: readonly string[];
  readonly restart: string | undefined;
  readonly expectedFailures: ExpectedFailures;
  readonly timeLimitMs: number;
  readonly json: string | undefined;
  readonly junit: string | undefined;
}

export type Task =
  | { readonly kind: 'help' | 'version' | 'list' | 'dialect' }
  | { readonly kind: 'write-agents'; readonly directory: string }
  | { readonly kind: 'run'; readonly options: Options };

const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;
const declared = {
  'base-url': text,
  'client-id': text,
  'client-secret': text,
  'access-token': text,
  'owner-token': text,
  'organization-id': text,
  'tenant-id': text,
  agents: text,
  dialect: text,
  level: text,
  only: text,
  restart: text,
  'expected-failures': text,
  'time-limit': text,
  json: text,
  junit: text,
  'write-agents': text,
  list: flag,
  'print-dialect': flag,
  help: { ...flag, short: 'h' },
  version: flag,
} as const;

type Values = { readonly [name in keyof typeof declared]?: string | boolean | undefined };
type Environment = Readonly<Record<string, string | undefined>>;

const usualTimeLimitSeconds = 180;

export function readTask(args: readonly string[], environment: Environment): Task {
  const values = parsed(args);
  if (values.help) return { kind: 'help' };
  if (values.version) return { kind: 'version' };
  if (values.list) return { kind: 'list' };
  if (values['print-dialect']) return { kind: 'dialect' };
  const directory = values['write-agents'];
  if (typeof directory === 'string') return { kind: 'write-agents', directory };
  return { kind: 'run', options: readOptions(values, environment) };
}

function readOptions(values: Values, environment: Environment): Options {
  const given = (name: keyof Values, variable = '') => {
    const value = values[name];
    return typeof value === 'string' ? value : environment[variable];
  };
  const baseUrl = given('base-url', 'CONVOKE_BASE_URL');
  if (baseUrl === undefined) throw new UsageError('--base-url is missing');
  if (!URL.canParse(baseUrl)) throw new UsageError('--base-url is no URL');
  const ids = requirements.map(({ id }) => id);
  const expected = given('expected-failures');
  return {
    baseUrl,
    credentials: readCredentials(given),
    ownerToken: given('owner-token', 'CONVOKE_OWNER_TOKEN'),
    organizationId: given('organization-id'),
    tenantId: given('tenant-id', 'CONVOKE_CLIENT_TENANT_ID'),
    agentNames: readAgents(given('agents') ?? ''),
    dialect: fromFile(given('dialect'), readDialect) ?? convokeDialect,
    level: readLevel(given('level') ?? 'specification'),
    only: (given('only') ?? '').split(',').filter((part) => part !== ''),
    restart: given('restart'),
    expectedFailures: fromFile(expected, (lines) => readExpectedFailures(lines, ids)) ?? new Map(),
    timeLimitMs: readSeconds(given('time-limit')) * 1000,
    json: given('json'),
    junit: given('junit'),
  };
}

function parsed(args: readonly string[]): Values {
  try {
    return parseArgs({ args: [...args], options: declared, allowPositionals: false }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function readCredentials(
  given: (name: keyof Values, variable?: string) => string | undefined,
): Credentials {
  const accessToken = given('access-token');
  if (accessToken !== undefined) return { accessToken };
  const clientId = given('client-id', 'CONVOKE_CLIENT_ID');
  const clientSecret = given('client-secret', 'CONVOKE_CLIENT_SECRET');
  if (clientId !== undefined && clientSecret !== undefined) return { clientId, clientSecret };
  throw new UsageError('--client-id and --client-secret, or --access-token, are missing');
}

/** `echo=name,ask=other`: the roles that are not named keep their usual names. */
function readAgents(list: string): Record<AgentRole, string> {
  const names = Object.fromEntries(agentRoles.map((role) => [role, usualName(role)]));
  for (const part of list.split(',').filter((each) => each !== '')) {
    const [role = '', name = ''] = part.split('=');
    if (!Object.hasOwn(names, role) || name === '') {
      throw new UsageError(`--agents takes ${agentRoles.join('=…, ')}=…, not ${part}`);
    }
    names[role] = name;
  }
  return names as Record<AgentRole, string>;
}

function readLevel(level: string): Options['level'] {
  if (level === 'specification' || level === 'convoke') return level;
  throw new UsageError(`--level is specification or convoke, not ${level}`);
}

function readSeconds(given: string | undefined): number {
  const seconds = Number(given ?? usualTimeLimitSeconds);
  if (Number.isInteger(seconds) && seconds > 0) return seconds;
  throw new UsageError(`--time-limit is a number of seconds, not ${given}`);
}

function fromFile<Read>(
  path: string | undefined,
  read: (content: string) => Read,
): Read | undefined {
  if (path === undefined) return undefined;
  try {
    return read(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new UsageError(`${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
