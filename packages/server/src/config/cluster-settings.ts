import { resolve } from 'node:path';
import { z } from 'zod';
import { type Setting, type SettingValues, oneOf, wholeNumber } from './setting.ts';

/** `api` answers requests; `worker` executes runs and does the background work. A server may have both roles. */
export type Role = 'api' | 'worker';

/** Settings for several servers that form one service. A single server needs none of them. */
export interface ClusterConfig {
  readonly roles: ReadonlySet<Role>;
  /** The key that all servers of one service share. */
  readonly masterKeyFile: { readonly path: string; readonly isGiven: boolean };
  readonly wakeups: WakeupsConfig;
  readonly blobs: BlobsConfig;
  /** Events of ended runs are deleted after this; 0 keeps them for ever. */
  readonly eventRetentionMs: number;
  readonly folderRetentionMs: number;
  readonly noticeRetentionMs: number;
  /** Bearer token that lets another machine read the metrics. */
  readonly metricsToken: string | undefined;
}

export type WakeupsConfig =
  | { readonly kind: 'local' }
  | { readonly kind: 'postgres' }
  | { readonly kind: 'nats'; readonly url: string };

export type BlobsConfig =
  | {
      readonly kind: 'disk';
      /** A folder that all servers share; without one, the data folder of each. */
      readonly folder?: string;
    }
  | {
      readonly kind: 's3';
      readonly bucket: string;
      /** Prefix of every key: empty, or ending in a slash. */
      readonly prefix: string;
      readonly endpoint: string | undefined;
      readonly region: string;
      readonly pathStyle: boolean;
    };

const dayMs = 86_400_000;
const daysMax = 99_999;
const bucketUrl = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([\w./-]*))?$/;

const folderUrl = /^file:\/\/(\/[^\0?#]+)$/;

const roles = z
  .string()
  .transform((text) => text.split(',').map((role) => role.trim()))
  .pipe(z.array(z.enum(['api', 'worker'], 'must be api, worker, or api,worker')).min(1));

export const clusterSettings = {
  CONVOKE_ROLE: {
    fallback: 'api,worker',
    means: 'api (answers requests), worker (executes runs), or both',
    format: '`api`, `worker` or `api,worker`',
    role: 'both',
    read: roles,
  },
  CONVOKE_MASTER_KEY_FILE: {
    fallback: '',
    means: 'the key all servers of one service share; without it, master.key in the data folder',
    format: 'path',
    role: 'both',
    read: z.string(),
  },
  CONVOKE_WAKEUPS: {
    fallback: 'auto',
    means: 'how servers wake each other: postgres (with PostgreSQL), nats, or local (one server)',
    role: 'both',
    ...oneOf(['auto', 'local', 'postgres', 'nats']),
  },
  CONVOKE_NATS_URL: {
    fallback: '',
    means: 'nats://… for CONVOKE_WAKEUPS=nats; several with commas',
    format: '`nats://host:port` or `tls://host:port`; several, separated by commas',
    role: 'both',
    read: z
      .string()
      .refine(
        (text) =>
          text === '' || text.split(',').every((url) => /^(nats|tls):\/\/[^\s/]+$/.test(url)),
        'must be nats://host:port, or several with commas',
      ),
  },
  CONVOKE_BLOBS: {
    fallback: '',
    means:
      's3://bucket or s3://bucket/prefix for files, or file:///path of a folder that all servers share; without it, the data folder',
    format: '`s3://bucket`, `s3://bucket/prefix` or `file:///path`',
    role: 'both',
    read: z
      .string()
      .refine(
        (text) => text === '' || bucketUrl.test(text) || folderUrl.test(text),
        'must be s3://bucket, s3://bucket/prefix or file:///path',
      ),
  },
  CONVOKE_S3_ENDPOINT: {
    fallback: '',
    means: 'address of an S3-compatible store, if it is not Amazon',
    format: '`http://host:port` or `https://host:port`',
    role: 'both',
    read: z
      .string()
      .refine(
        (text) => text === '' || /^https?:\/\/[^\s/]+\/?$/.test(text),
        'must be http(s)://host:port',
      )
      .transform((text) => (text === '' ? undefined : text)),
  },
  CONVOKE_S3_REGION: {
    fallback: 'us-east-1',
    means: 'region of the bucket',
    format: 'text',
    role: 'both',
    read: z.string().min(1),
  },
  CONVOKE_S3_PATH_STYLE: {
    fallback: 'off',
    means: 'on for stores that name the bucket in the path (MinIO, Ceph, Garage)',
    role: 'both',
    ...oneOf(['on', 'off']),
  },
  CONVOKE_EVENT_RETENTION_DAYS: {
    fallback: '0',
    means: 'events of ended runs are deleted after this many days (0 = never)',
    role: 'worker',
    ...wholeNumber(0, daysMax),
  },
  CONVOKE_FEED_DAYS: {
    fallback: '30',
    means: 'notices of the feed are deleted after this many days',
    role: 'worker',
    ...wholeNumber(1, daysMax),
  },
  CONVOKE_SESSION_FOLDER_RETENTION_DAYS: {
    fallback: '7',
    means: 'folders and snapshots of ended sessions are removed after this many days (0 = never)',
    role: 'worker',
    ...wholeNumber(0, daysMax),
  },
  CONVOKE_METRICS_TOKEN: {
    fallback: '',
    means: 'bearer token for /metrics; without it only this machine may read them',
    format: 'text of at least 16 characters',
    role: 'both',
    read: z
      .string()
      .refine((text) => text === '' || text.length >= 16, 'must have at least 16 characters')
      .transform((text) => (text === '' ? undefined : text)),
  },
} as const satisfies Readonly<Record<string, Setting>>;

type ClusterValue = SettingValues<typeof clusterSettings>;

interface Storage {
  readonly dataDir: string;
  readonly databaseUrl: string | undefined;
}

/** A contradiction between settings that are valid each on its own; undefined when there is none. */
export function clusterProblem(value: ClusterValue, { databaseUrl }: Storage): string | undefined {
  const wakeups = value('CONVOKE_WAKEUPS');
  if (wakeups !== 'auto' && wakeups !== 'local' && databaseUrl === undefined) {
    return `CONVOKE_WAKEUPS=${wakeups} needs CONVOKE_DATABASE_URL: servers that wake each other share a database`;
  }
  if (wakeups === 'nats' && value('CONVOKE_NATS_URL') === '') {
    return 'CONVOKE_WAKEUPS=nats needs CONVOKE_NATS_URL, such as nats://127.0.0.1:4222';
  }
  if (wakeups !== 'nats' && value('CONVOKE_NATS_URL') !== '') {
    return 'CONVOKE_NATS_URL is used only with CONVOKE_WAKEUPS=nats';
  }
  if (databaseUrl === undefined && new Set(value('CONVOKE_ROLE')).size === 1) {
    return 'CONVOKE_ROLE: servers that share the work share a database; set CONVOKE_DATABASE_URL=postgres://…';
  }
  return undefined;
}

export function readCluster(value: ClusterValue, storage: Storage): ClusterConfig {
  const given = value('CONVOKE_MASTER_KEY_FILE');
  return {
    roles: new Set(value('CONVOKE_ROLE')),
    masterKeyFile: {
      path: resolve(storage.dataDir, given === '' ? 'master.key' : resolve(given)),
      isGiven: given !== '',
    },
    wakeups: wakeupsOf(value, storage),
    blobs: blobsOf(value),
    eventRetentionMs: value('CONVOKE_EVENT_RETENTION_DAYS') * dayMs,
    folderRetentionMs: value('CONVOKE_SESSION_FOLDER_RETENTION_DAYS') * dayMs,
    noticeRetentionMs: value('CONVOKE_FEED_DAYS') * dayMs,
    metricsToken: value('CONVOKE_METRICS_TOKEN'),
  };
}

function wakeupsOf(value: ClusterValue, { databaseUrl }: Storage): WakeupsConfig {
  const kind = value('CONVOKE_WAKEUPS');
  if (kind === 'nats') return { kind, url: value('CONVOKE_NATS_URL') };
  if (kind !== 'auto') return { kind };
  return { kind: databaseUrl === undefined ? 'local' : 'postgres' };
}

function blobsOf(value: ClusterValue): BlobsConfig {
  const [, folder] = folderUrl.exec(value('CONVOKE_BLOBS')) ?? [];
  if (folder !== undefined) return { kind: 'disk', folder };
  const [, bucket, prefix = ''] = bucketUrl.exec(value('CONVOKE_BLOBS')) ?? [];
  if (bucket === undefined) return { kind: 'disk' };
  return {
    kind: 's3',
    bucket,
    prefix: prefix === '' ? '' : `${prefix.replace(/\/+$/, '')}/`,
    endpoint: value('CONVOKE_S3_ENDPOINT'),
    region: value('CONVOKE_S3_REGION'),
    pathStyle: value('CONVOKE_S3_PATH_STYLE') === 'on',
  };
}
