import { limits } from '@convoke/contract';
import { z } from 'zod';
import { clusterSettings } from './cluster-settings.ts';
import { corsOriginsSetting } from './cors-origins.ts';
import { oidcSettings } from './oidc-settings.ts';
import { type Setting, baseUrl, oneOf, optionalUrl, wholeNumber } from './setting.ts';
import { trustedProxiesSetting } from './trusted-proxies.ts';

const secondMs = 1000;

function isConnectUrl(text: string): boolean {
  const isWeb = URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
  return isWeb && text.includes('{session_id}') && text.includes('{service}');
}

/**
 * Every environment variable that the server reads. `convoke serve --help` prints this table, and
 * docs/reference/settings.md is generated from it.
 */
export const settingTable = {
  CONVOKE_HOST: {
    fallback: '127.0.0.1',
    means: 'address to listen on',
    format: 'IP address or host name',
    role: 'both',
    read: z.string().min(1),
  },
  CONVOKE_PORT: {
    fallback: '8787',
    means: 'port to listen on (0 = any free one)',
    role: 'both',
    ...wholeNumber(0, 65_535),
  },
  CONVOKE_BASE_URL: {
    fallback: '',
    means: 'address clients use, without /v1, if it differs from host and port',
    role: 'both',
    ...baseUrl,
  },
  CONVOKE_TRUSTED_PROXIES: trustedProxiesSetting,
  CONVOKE_CORS_ORIGINS: corsOriginsSetting,
  CONVOKE_DATA_DIR: {
    fallback: '.convoke',
    means: 'folder for the database, files and keys',
    format: 'path',
    role: 'both',
    read: z.string().min(1),
  },
  CONVOKE_AGENTS_DIR: {
    fallback: 'agents',
    means: 'folder with one folder per agent',
    format: 'path',
    role: 'both',
    read: z.string().min(1),
  },
  CONVOKE_PRICES: {
    fallback: '',
    means:
      'file with the prices of models, for the costs of runs; without it, runs show tokens only',
    format: 'path',
    role: 'both',
    read: z.string(),
  },
  CONVOKE_DATABASE_URL: {
    fallback: '',
    means: 'postgres://… ; without it, SQLite in the data folder',
    role: 'both',
    ...optionalUrl(['postgres:', 'postgresql:']),
  },
  CONVOKE_DATABASE_CONNECTIONS: {
    fallback: '10',
    means:
      'connections to PostgreSQL that this process opens at most, besides the one for wake-ups',
    role: 'both',
    ...wholeNumber(2, 500),
  },
  CONVOKE_SANDBOX: {
    fallback: 'auto',
    means: 'auto, bwrap (required) or none (agents run programs without a sandbox)',
    role: 'both',
    ...oneOf(['auto', 'bwrap', 'none']),
  },
  CONVOKE_WEBHOOK_ALLOW: {
    fallback: '',
    means: 'hosts and networks besides the public internet where webhooks may lead',
    format: 'list, separated by commas or spaces',
    role: 'both',
    read: z.string().transform((text) => text.split(/[\s,]+/).filter((entry) => entry !== '')),
  },
  CONVOKE_CONNECTION_ALLOW: {
    fallback: '',
    means:
      'hosts and networks besides the public internet where the token endpoints of connections, what MCP servers say of theirs, and the documents of assistants that sign in may be',
    format: 'list, separated by commas or spaces',
    role: 'both',
    read: z.string().transform((text) => text.split(/[\s,]+/).filter((entry) => entry !== '')),
  },
  CONVOKE_CONNECT_URL: {
    fallback: '',
    means:
      'page of your product where its users connect accounts, with {session_id} and {service}: a run that misses an account asks for it there. People of the organization have a page of the console',
    format: 'URL',
    role: 'both',
    read: z
      .string()
      .max(1000)
      .refine((text) => text === '' || isConnectUrl(text), {
        error: 'must be an http or https URL that contains {session_id} and {service}',
      }),
  },
  CONVOKE_A2A_ALLOW: {
    fallback: '',
    means: 'hosts and networks besides the public internet where a2a agents may be',
    format: 'list, separated by commas or spaces',
    role: 'both',
    read: z.string().transform((text) => text.split(/[\s,]+/).filter((entry) => entry !== '')),
  },
  CONVOKE_LOG_LEVEL: {
    fallback: 'auto',
    means: 'lowest level that is logged; auto is info on a terminal and warn elsewhere',
    role: 'both',
    ...oneOf(['auto', 'debug', 'info', 'warn', 'error', 'silent']),
  },
  CONVOKE_LOG_FORMAT: {
    fallback: 'auto',
    means:
      'text for people or json, one object a line; auto is text on a terminal and json elsewhere',
    role: 'both',
    ...oneOf(['auto', 'text', 'json']),
  },
  CONVOKE_TRACE_CONTENT: {
    fallback: 'off',
    means:
      'on: the server adds inputs, answers and tool calls to the traces that it exports, as they stand in the log of the run',
    role: 'both',
    ...oneOf(['on', 'off']),
  },
  CONVOKE_TENANT_HEADER: {
    fallback: 'any',
    means: '"workspace" refuses X-Tenant-ID',
    role: 'api',
    ...oneOf(['any', 'workspace']),
  },
  CONVOKE_FILE_ATTACHMENTS: {
    fallback: 'on',
    means: 'whether runs may take and produce files',
    role: 'both',
    ...oneOf(['on', 'off']),
  },
  CONVOKE_MAX_FILE_BYTES: {
    fallback: String(limits.defaultFileMaxBytes),
    means: 'largest file, in bytes',
    role: 'both',
    ...wholeNumber(1, 2 ** 40),
  },
  CONVOKE_TENANT_STORAGE_BYTES: {
    fallback: '0',
    means: 'bytes that all files of a tenant may have together (0 = no limit)',
    role: 'both',
    ...wholeNumber(0, 2 ** 50),
  },
  CONVOKE_API_RATE_PER_MINUTE: {
    fallback: String(limits.defaultApiRatePerMinute),
    means: 'calls per automation client (0 = no limit)',
    role: 'api',
    ...wholeNumber(0, 1e9),
  },
  CONVOKE_MANAGEMENT_RATE_PER_MINUTE: {
    fallback: String(limits.defaultManagementRatePerMinute),
    means: 'changes per person and organization, counted over all servers (0 = no limit)',
    role: 'api',
    ...wholeNumber(0, 1e9),
  },
  CONVOKE_CONSOLE: {
    fallback: 'on',
    means: 'whether people may use the console at /console/',
    role: 'api',
    ...oneOf(['on', 'off']),
  },
  CONVOKE_CLIENT_REGISTRATION: {
    fallback: 'off',
    means:
      'on: assistants that have no document about themselves may register; their names are not verified',
    role: 'api',
    ...oneOf(['on', 'off']),
  },
  ...oidcSettings,
  ...clusterSettings,
  CONVOKE_RUN_CONCURRENCY: {
    fallback: '256',
    means: 'runs this process executes at once',
    role: 'worker',
    ...wholeNumber(1, 10_000),
  },
  CONVOKE_TENANT_RUN_CONCURRENCY: {
    fallback: '64',
    means: 'runs of one tenant that execute at once',
    role: 'worker',
    ...wholeNumber(1, 10_000),
  },
  CONVOKE_LEASE_SECONDS: {
    fallback: '15',
    means: 'a worker that does not renew its lease for this long loses its runs (PostgreSQL)',
    role: 'worker',
    ...wholeNumber(3, 300),
  },
  CONVOKE_DRAIN_SECONDS: {
    fallback: '25',
    means: 'time to hand runs over and to exit after SIGTERM; the last 10 s are for closing',
    role: 'both',
    ...wholeNumber(5, 86_400),
  },
  CONVOKE_DRAIN_DELAY_SECONDS: {
    fallback: '5',
    means:
      'after SIGTERM, `/readyz` returns 503 this long before streams and the port close, so that load balancers notice (PostgreSQL)',
    role: 'api',
    ...wholeNumber(0, 3600),
  },
  CONVOKE_MACHINE_RETURN_SECONDS: {
    fallback: '60',
    means: 'a lost run waits this long for the machine that has its files (PostgreSQL)',
    role: 'worker',
    ...wholeNumber(0, 86_400),
  },
  CONVOKE_RECOVERY: {
    fallback: 'resume',
    means: 'runs whose worker is gone: continue them as their agent allows, or end all of them',
    role: 'worker',
    ...oneOf(['resume', 'fail']),
  },
  CONVOKE_SESSION_QUEUE_MAX: {
    fallback: String(limits.defaultSessionQueueRuns),
    means: 'runs that may be queued in one session',
    role: 'api',
    ...wholeNumber(0, 10_000),
  },
  CONVOKE_SESSION_IDLE_TTL_SECONDS: {
    fallback: String(limits.defaultSessionIdleTtlMs / secondMs),
    means: 'unused sessions end after this (0 = never)',
    role: 'both',
    ...wholeNumber(0, 1e9),
  },
  CONVOKE_CANCEL_GRACE_SECONDS: {
    fallback: String(limits.defaultCancelGraceMs / secondMs),
    means: 'a cancelled agent is killed after this',
    role: 'worker',
    ...wholeNumber(0, 3600),
  },
  CONVOKE_STREAM_MAX_AGE_SECONDS: {
    fallback: String(limits.defaultStreamAgeMs / secondMs),
    means: 'a stream is closed after this; readers reconnect',
    role: 'api',
    ...wholeNumber(1, 86_400),
  },
  CONVOKE_TENANT_MODES: {
    fallback: 'saas',
    means: 'modes a tenant may have',
    format: 'names of a-z, 0-9, _ and -, separated by commas',
    role: 'api',
    read: z.string().regex(/^[a-z0-9_-]+(,[a-z0-9_-]+)*$/),
  },
  CONVOKE_TENANTS_MAX: {
    fallback: '100',
    means: 'tenants one organization may have',
    role: 'api',
    ...wholeNumber(1, 1e6),
  },
} as const satisfies Readonly<Record<string, Setting>>;

export type SettingName = keyof typeof settingTable;
