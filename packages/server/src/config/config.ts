import { resolve } from 'node:path';
import { nearestName } from '@convoke/contract';
import type { z } from 'zod';
import type { PeopleIssuer } from '../ports/people-issuer.ts';
import type { SandboxMode } from '../ports/sandbox.ts';
import type { Settings } from '../ports/settings.ts';
import { type ClusterConfig, clusterProblem, readCluster } from './cluster-settings.ts';
import { oidcProblem, readPeopleIssuer } from './oidc-settings.ts';
import { type SettingName, settingTable } from './setting-table.ts';
import { type TelemetryConfig, readTelemetry } from './telemetry-settings.ts';
import type { TrustedProxies } from './trusted-proxies.ts';

export { settingTable };

export interface Config {
  readonly host: string;
  readonly port: number;
  /** The address that clients use: the issuer of tokens and the start of links. */
  readonly baseUrl: string;
  /** The same address if an operator set it; undefined if it was derived from host and port. */
  readonly givenBaseUrl: string | undefined;
  /** Proxies whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies: TrustedProxies;
  /** Origins of pages that may use session tokens. */
  readonly corsOrigins: ReadonlySet<string>;
  readonly dataDir: string;
  readonly agentsDir: string;
  /** The file with the prices of models, if there is one. */
  readonly pricesFile: string | undefined;
  /** Absent means SQLite in the data folder. */
  readonly databaseUrl: string | undefined;
  /** The most connections of the pool (PostgreSQL). */
  readonly databaseConnections: number;
  readonly sandbox: SandboxMode;
  /** Hosts and networks besides the public internet where remote agents may be (`egress/allow-list.ts`). */
  readonly a2aAllow: readonly string[];
  readonly webhookAllow: readonly string[];
  readonly connectionAllow: readonly string[];
  readonly log: {
    readonly level: 'auto' | 'debug' | 'info' | 'warn' | 'error' | 'silent';
    readonly format: 'auto' | 'text' | 'json';
  };
  readonly telemetry: TelemetryConfig;
  readonly tenantHeader: 'any' | 'workspace';
  readonly apiRatePerMinute: number;
  readonly managementRatePerMinute: number;
  /** Absent means that people sign in here. */
  readonly peopleIssuer: PeopleIssuer | undefined;
  /** Whether the console's pages, its sign-in and its token exchange exist. */
  readonly hasConsole: boolean;
  /** Whether assistants without a document about themselves may register. */
  readonly hasClientRegistration: boolean;
  readonly cluster: ClusterConfig;
  /** The whole drain after SIGTERM. */
  readonly drainMs: number;
  readonly drainDelayMs: number;
  readonly settings: Settings;
}

const secondMs = 1000;

/** A setting is wrong; the message is one line that an operator can act on. */
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
  const storage = { dataDir, databaseUrl };
  const problem =
    oidcProblem(value, (name) => (env[name] ?? '') !== '') ?? clusterProblem(value, storage);
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
    corsOrigins: value('CONVOKE_CORS_ORIGINS'),
    dataDir,
    agentsDir: resolve(value('CONVOKE_AGENTS_DIR')),
    pricesFile: pathOf(value('CONVOKE_PRICES')),
    databaseUrl,
    databaseConnections: value('CONVOKE_DATABASE_CONNECTIONS'),
    sandbox: value('CONVOKE_SANDBOX'),
    a2aAllow: value('CONVOKE_A2A_ALLOW'),
    webhookAllow: value('CONVOKE_WEBHOOK_ALLOW'),
    connectionAllow: value('CONVOKE_CONNECTION_ALLOW'),
    log: { level: value('CONVOKE_LOG_LEVEL'), format: value('CONVOKE_LOG_FORMAT') },
    telemetry: readTelemetry(env, { hasContent: value('CONVOKE_TRACE_CONTENT') === 'on' }),
    tenantHeader: value('CONVOKE_TENANT_HEADER'),
    apiRatePerMinute: value('CONVOKE_API_RATE_PER_MINUTE'),
    managementRatePerMinute: value('CONVOKE_MANAGEMENT_RATE_PER_MINUTE'),
    peopleIssuer: readPeopleIssuer(value),
    hasConsole: value('CONVOKE_CONSOLE') === 'on',
    hasClientRegistration: value('CONVOKE_CLIENT_REGISTRATION') === 'on',
    cluster: readCluster(value, storage),
    drainMs: value('CONVOKE_DRAIN_SECONDS') * secondMs,
    drainDelayMs: value('CONVOKE_DRAIN_DELAY_SECONDS') * secondMs,
    settings: {
      fileAttachments: value('CONVOKE_FILE_ATTACHMENTS') === 'on',
      maxFileBytes: value('CONVOKE_MAX_FILE_BYTES'),
      tenantStorageMaxBytes: value('CONVOKE_TENANT_STORAGE_BYTES'),
      sessionQueueMax: value('CONVOKE_SESSION_QUEUE_MAX'),
      sessionIdleTtlMs: value('CONVOKE_SESSION_IDLE_TTL_SECONDS') * secondMs,
      cancelGraceMs: value('CONVOKE_CANCEL_GRACE_SECONDS') * secondMs,
      runConcurrency: value('CONVOKE_RUN_CONCURRENCY'),
      tenantRunConcurrency: value('CONVOKE_TENANT_RUN_CONCURRENCY'),
      leaseMs: value('CONVOKE_LEASE_SECONDS') * secondMs,
      recovery: value('CONVOKE_RECOVERY'),
      machineReturnMs: value('CONVOKE_MACHINE_RETURN_SECONDS') * secondMs,
      streamMaxAgeMs: value('CONVOKE_STREAM_MAX_AGE_SECONDS') * secondMs,
      connectUrl: value('CONVOKE_CONNECT_URL') || undefined,
      tenantModes: value('CONVOKE_TENANT_MODES').split(','),
      tenantsPerOrganizationMax: value('CONVOKE_TENANTS_MAX'),
    },
  };
}

function pathOf(text: string): string | undefined {
  return text === '' ? undefined : resolve(text);
}

/** Removes the password of a URL: the text may end up in a log. */
function withoutPassword(text: string): string {
  return text.replace(/(?<=\/\/)[^/@]*(?=@)/, '…');
}

/** The local address of this server; the loopback address if it listens on all addresses. */
function localUrl(host: string, port: number): string {
  const reached = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`;
}

/** Variables of the test suites and of the launcher, which share the prefix. */
const otherPrefixes = ['CONVOKE_TEST_', 'CONVOKE_CLIENT_', 'CONVOKE_NODE'];

const prefix = 'CONVOKE_';
const settingWords = Object.keys(settingTable).map((name) => name.slice(prefix.length));

/** Refuses unknown variables: a misspelt setting would otherwise be ignored silently. */
function refuseUnknown(env: Readonly<Record<string, string | undefined>>): void {
  for (const name of Object.keys(env)) {
    if (!name.startsWith(prefix) || name in settingTable) continue;
    if (otherPrefixes.some((prefix) => name.startsWith(prefix))) continue;
    const meant = nearestName(name.slice(prefix.length), settingWords);
    const advice =
      meant === undefined ? 'see `npx convoke serve --help`' : `did you mean ${prefix}${meant}?`;
    throw new WrongSetting(`${name} is not a setting of Convoke; ${advice}`);
  }
}
