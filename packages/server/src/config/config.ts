import type { BlockList } from 'node:net';
import { resolve } from 'node:path';
import { limits } from '@convoke/contract';
import { z } from 'zod';
import type { PeopleIssuer } from '../ports/people-issuer.ts';
import type { SandboxMode } from '../ports/sandbox.ts';
import type { Settings } from '../ports/settings.ts';
import {
  type ClusterConfig,
  clusterProblem,
  clusterSettings,
  readCluster,
} from './cluster-settings.ts';
import { oidcProblem, oidcSettings, readPeopleIssuer } from './oidc-settings.ts';
import { trustedProxiesSetting } from './trusted-proxies.ts';

export interface Config {
  readonly host: string;
  readonly port: number;
  /** Where clients reach this server: the issuer of tokens, and what links start with. */
  readonly baseUrl: string;
  /** The same when an operator set it, rather than what host and port make of it. */
  readonly givenBaseUrl: string | undefined;
  /** Proxies whose word about a caller's address is taken. */
  readonly trustedProxies: BlockList;
  readonly dataDir: string;
  readonly agentsDir: string;
  /** Absent means SQLite in the data folder. */
  readonly databaseUrl: string | undefined;
  readonly sandbox: SandboxMode;
  /** Where remote agents may be beyond the public internet (`harness/a2a/allow-list.ts`). */
  readonly a2aAllow: readonly string[];
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error' | 'silent';
  readonly tenantHeader: 'any' | 'workspace';
  readonly apiRatePerMinute: number;
  readonly managementRatePerMinute: number;
  /** Absent means that people sign in here. */
  readonly peopleIssuer: PeopleIssuer | undefined;
  readonly cluster: ClusterConfig;
  readonly settings: Settings;
}

const seconds = 1000;

/** Every setting there is, with its default and what it means. `convoke serve --help` prints this table. */
export const settingTable = {
  CONVOKE_HOST: { fallback: '127.0.0.1', means: 'address to listen on', read: z.string().min(1) },
  CONVOKE_PORT: {
    fallback: '8787',
    means: 'port to listen on (0 = any free one)',
    read: whole(0, 65_535),
  },
  CONVOKE_BASE_URL: {
    fallback: '',
    means: 'address clients use, if it differs from host and port',
    read: optionalUrl(['http:', 'https:']),
  },
  CONVOKE_TRUSTED_PROXIES: trustedProxiesSetting,
  CONVOKE_DATA_DIR: {
    fallback: '.convoke',
    means: 'folder for the database, files and keys',
    read: z.string().min(1),
  },
  CONVOKE_AGENTS_DIR: {
    fallback: 'agents',
    means: 'folder with one folder per agent',
    read: z.string().min(1),
  },
  CONVOKE_DATABASE_URL: {
    fallback: '',
    means: 'postgres://… ; without it, SQLite in the data folder',
    read: optionalUrl(['postgres:', 'postgresql:']),
  },
  CONVOKE_SANDBOX: {
    fallback: 'auto',
    means: 'auto, bwrap (insist on it) or none (agents run programs unconfined)',
    read: z.enum(['auto', 'bwrap', 'none']),
  },
  CONVOKE_A2A_ALLOW: {
    fallback: '',
    means: 'hosts and networks that a2a agents may be in beyond the public internet',
    read: z.string().transform((text) => text.split(/[\s,]+/).filter((entry) => entry !== '')),
  },
  CONVOKE_LOG_LEVEL: {
    fallback: 'warn',
    means: 'debug, info, warn, error or silent',
    read: z.enum(['debug', 'info', 'warn', 'error', 'silent']),
  },
  CONVOKE_TENANT_HEADER: {
    fallback: 'any',
    means: '"workspace" refuses X-Tenant-ID',
    read: z.enum(['any', 'workspace']),
  },
  CONVOKE_FILE_ATTACHMENTS: { fallback: 'on', means: 'on or off', read: z.enum(['on', 'off']) },
  CONVOKE_MAX_FILE_BYTES: {
    fallback: String(limits.defaultFileMaxBytes),
    means: 'largest file',
    read: whole(1, 2 ** 40),
  },
  CONVOKE_API_RATE_PER_MINUTE: {
    fallback: String(limits.defaultApiRatePerMinute),
    means: 'calls per automation client (0 = no limit)',
    read: whole(0, 1e9),
  },
  CONVOKE_MANAGEMENT_RATE_PER_MINUTE: {
    fallback: String(limits.defaultManagementRatePerMinute),
    means: 'changes per person (0 = no limit)',
    read: whole(0, 1e9),
  },
  ...oidcSettings,
  ...clusterSettings,
  CONVOKE_RUN_CONCURRENCY: {
    fallback: '256',
    means: 'runs this process executes at once',
    read: whole(1, 10_000),
  },
  CONVOKE_TENANT_RUN_CONCURRENCY: {
    fallback: '64',
    means: 'runs one tenant executes at once',
    read: whole(1, 10_000),
  },
  CONVOKE_LEASE_SECONDS: {
    fallback: '15',
    means: 'a server not heard of for this long loses its runs (PostgreSQL)',
    read: whole(3, 300),
  },
  CONVOKE_SESSION_QUEUE_MAX: {
    fallback: String(limits.defaultSessionQueueRuns),
    means: 'runs that may wait in one session',
    read: whole(0, 10_000),
  },
  CONVOKE_SESSION_IDLE_TTL_SECONDS: {
    fallback: String(limits.defaultSessionIdleTtlMs / seconds),
    means: 'unused sessions end after this (0 = never)',
    read: whole(0, 1e9),
  },
  CONVOKE_CANCEL_GRACE_SECONDS: {
    fallback: String(limits.defaultCancelGraceMs / seconds),
    means: 'a cancelled agent is killed after this',
    read: whole(0, 3600),
  },
  CONVOKE_STREAM_MAX_AGE_SECONDS: {
    fallback: String(limits.defaultStreamAgeMs / seconds),
    means: 'a stream is closed after this; readers reconnect',
    read: whole(1, 86_400),
  },
  CONVOKE_TENANT_MODES: {
    fallback: 'saas',
    means: 'comma-separated modes a tenant may have',
    read: z.string().regex(/^[a-z0-9_-]+(,[a-z0-9_-]+)*$/),
  },
  CONVOKE_TENANTS_MAX: {
    fallback: '100',
    means: 'tenants one organization may have',
    read: whole(1, 1e6),
  },
} as const;

export type SettingName = keyof typeof settingTable;

/** What is wrong with the settings, in one line a person can act on. */
export class WrongSetting extends Error {
  override readonly name = 'WrongSetting';
}

export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  refuseUnknown(env);
  const text = (name: SettingName) => env[name] || settingTable[name].fallback;
  const value = <Name extends SettingName>(
    name: Name,
  ): z.infer<(typeof settingTable)[Name]['read']> => {
    const { read, means } = settingTable[name];
    const parsed = read.safeParse(text(name));
    if (parsed.success) return parsed.data as z.infer<(typeof settingTable)[Name]['read']>;
    const problem = parsed.error.issues[0]?.message ?? 'is not valid';
    throw new WrongSetting(`${name}=${withoutPassword(text(name))}: ${problem} (${means})`);
  };
  const dataDir = resolve(value('CONVOKE_DATA_DIR'));
  const databaseUrl = value('CONVOKE_DATABASE_URL');
  const place = { dataDir, databaseUrl };
  const problem =
    oidcProblem(value, (name) => (env[name] ?? '') !== '') ?? clusterProblem(value, place);
  if (problem !== undefined) throw new WrongSetting(problem);
  const host = value('CONVOKE_HOST');
  const port = value('CONVOKE_PORT');
  const givenBaseUrl = value('CONVOKE_BASE_URL')?.replace(/\/+$/, '');
  return {
    host,
    port,
    baseUrl: givenBaseUrl ?? localUrl(host, port),
    givenBaseUrl,
    trustedProxies: value('CONVOKE_TRUSTED_PROXIES'),
    dataDir,
    agentsDir: resolve(value('CONVOKE_AGENTS_DIR')),
    databaseUrl,
    sandbox: value('CONVOKE_SANDBOX'),
    a2aAllow: value('CONVOKE_A2A_ALLOW'),
    logLevel: value('CONVOKE_LOG_LEVEL'),
    tenantHeader: value('CONVOKE_TENANT_HEADER'),
    apiRatePerMinute: value('CONVOKE_API_RATE_PER_MINUTE'),
    managementRatePerMinute: value('CONVOKE_MANAGEMENT_RATE_PER_MINUTE'),
    peopleIssuer: readPeopleIssuer(value),
    cluster: readCluster(value, place),
    settings: {
      fileAttachments: value('CONVOKE_FILE_ATTACHMENTS') === 'on',
      maxFileBytes: value('CONVOKE_MAX_FILE_BYTES'),
      sessionQueueMax: value('CONVOKE_SESSION_QUEUE_MAX'),
      sessionIdleTtlMs: value('CONVOKE_SESSION_IDLE_TTL_SECONDS') * seconds,
      cancelGraceMs: value('CONVOKE_CANCEL_GRACE_SECONDS') * seconds,
      runConcurrency: value('CONVOKE_RUN_CONCURRENCY'),
      tenantRunConcurrency: value('CONVOKE_TENANT_RUN_CONCURRENCY'),
      leaseMs: value('CONVOKE_LEASE_SECONDS') * seconds,
      streamMaxAgeMs: value('CONVOKE_STREAM_MAX_AGE_SECONDS') * seconds,
      tenantModes: value('CONVOKE_TENANT_MODES').split(','),
      tenantsPerOrganizationMax: value('CONVOKE_TENANTS_MAX'),
    },
  };
}

/** What is shown on a terminal may be kept in a log. */
function withoutPassword(text: string): string {
  return text.replace(/(?<=\/\/)[^/@]*(?=@)/, '…');
}

/** A server that listens on every address is reached here by the loopback one. */
function localUrl(host: string, port: number): string {
  const reached = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`;
}

/** Variables of the test suites and of the launcher, which share the prefix. */
const otherPrefixes = ['CONVOKE_TEST_', 'CONVOKE_CLIENT_', 'CONVOKE_NODE'];

/** A misspelt setting would otherwise be ignored in silence. */
function refuseUnknown(env: Readonly<Record<string, string | undefined>>): void {
  for (const name of Object.keys(env)) {
    if (!name.startsWith('CONVOKE_') || name in settingTable) continue;
    if (otherPrefixes.some((prefix) => name.startsWith(prefix))) continue;
    throw new WrongSetting(`${name} is not a setting of Convoke; see \`npx convoke serve --help\``);
  }
}

function whole(least: number, most: number) {
  return z
    .string()
    .regex(/^\d+$/, `must be a whole number from ${least} to ${most}`)
    .transform(Number)
    .refine(
      (number) => number >= least && number <= most,
      `must be a whole number from ${least} to ${most}`,
    );
}

function optionalUrl(protocols: readonly string[]) {
  return z
    .string()
    .refine(
      (text) => text === '' || (URL.canParse(text) && protocols.includes(new URL(text).protocol)),
      `must be an address that starts with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`,
    )
    .transform((text) => (text === '' ? undefined : text));
}
