import { resolve } from 'node:path';
import { z } from 'zod';

/** What a server does: answers requests, executes runs and does all other work without a request, or both. */
export type Role = 'api' | 'worker';

/** What lets several servers be one service. One machine needs none of it. */
export interface ClusterConfig {
  readonly roles: ReadonlySet<Role>;
  /** Where the key that all servers of one service share lies. */
  readonly masterKeyFile: { readonly path: string; readonly isGiven: boolean };
  readonly wakeups: WakeupsConfig;
  readonly blobs: BlobsConfig;
  /** Events of ended runs are forgotten after this; 0 keeps them for ever. */
  readonly eventRetentionMs: number;
  /** Who shows it may read the metrics from another machine. */
  readonly metricsToken: string | undefined;
}

export type WakeupsConfig =
  | { readonly kind: 'local' }
  | { readonly kind: 'postgres' }
  | { readonly kind: 'nats'; readonly url: string };

export type BlobsConfig =
  | { readonly kind: 'disk' }
  | {
      readonly kind: 's3';
      readonly bucket: string;
      /** Empty, or what every key starts with, ending in a slash. */
      readonly prefix: string;
      readonly endpoint: string | undefined;
      readonly region: string;
      readonly pathStyle: boolean;
    };

const dayMs = 86_400_000;
const bucketUrl = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([\w./-]*))?$/;

const roles = z
  .string()
  .transform((text) => text.split(',').map((role) => role.trim()))
  .pipe(z.array(z.enum(['api', 'worker'], 'must be api, worker, or api,worker')).min(1));

export const clusterSettings = {
  CONVOKE_ROLE: {
    fallback: 'api,worker',
    means: 'api (answers requests), worker (executes runs), or both',
    read: roles,
  },
  CONVOKE_MASTER_KEY_FILE: {
    fallback: '',
    means: 'the key all servers of one service share; without it, master.key in the data folder',
    read: z.string(),
  },
  CONVOKE_WAKEUPS: {
    fallback: 'auto',
    means: 'how servers wake each other: postgres (with PostgreSQL), nats, or local (one server)',
    read: z.enum(['auto', 'local', 'postgres', 'nats']),
  },
  CONVOKE_NATS_URL: {
    fallback: '',
    means: 'nats://… for CONVOKE_WAKEUPS=nats; several with commas',
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
    means: 's3://bucket or s3://bucket/prefix for files; without it, the data folder',
    read: z
      .string()
      .refine(
        (text) => text === '' || bucketUrl.test(text),
        'must be s3://bucket or s3://bucket/prefix',
      ),
  },
  CONVOKE_S3_ENDPOINT: {
    fallback: '',
    means: 'address of an S3-compatible store, if it is not Amazon',
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
    read: z.string().min(1),
  },
  CONVOKE_S3_PATH_STYLE: {
    fallback: 'off',
    means: 'on for stores that name the bucket in the path (MinIO, Ceph, Garage)',
    read: z.enum(['on', 'off']),
  },
  CONVOKE_EVENT_RETENTION_DAYS: {
    fallback: '0',
    means: 'events of ended runs are forgotten after this many days (0 = never)',
    read: z
      .string()
      .regex(/^\d{1,5}$/, 'must be a whole number of days')
      .transform(Number),
  },
  CONVOKE_METRICS_TOKEN: {
    fallback: '',
    means: 'bearer token for /metrics; without it only this machine may read them',
    read: z
      .string()
      .refine((text) => text === '' || text.length >= 16, 'must have at least 16 characters')
      .transform((text) => (text === '' ? undefined : text)),
  },
} as const;

type ClusterName = keyof typeof clusterSettings;
type ClusterValue = <Name extends ClusterName>(
  name: Name,
) => z.infer<(typeof clusterSettings)[Name]['read']>;

interface Place {
  readonly dataDir: string;
  readonly databaseUrl: string | undefined;
}

/** What is wrong between settings that are right by themselves. */
export function clusterProblem(value: ClusterValue, { databaseUrl }: Place): string | undefined {
  const wakeups = value('CONVOKE_WAKEUPS');
  if (wakeups !== 'auto' && wakeups !== 'local' && databaseUrl === undefined) {
    return `CONVOKE_WAKEUPS=${wakeups} needs CONVOKE_DATABASE_URL: servers that wake each other share a database`;
  }
  if (wakeups === 'nats' && value('CONVOKE_NATS_URL') === '') {
    return 'CONVOKE_WAKEUPS=nats needs CONVOKE_NATS_URL, such as nats://127.0.0.1:4222';
  }
  if (wakeups !== 'nats' && value('CONVOKE_NATS_URL') !== '') {
    return 'CONVOKE_NATS_URL is of use only with CONVOKE_WAKEUPS=nats';
  }
  if (databaseUrl === undefined && new Set(value('CONVOKE_ROLE')).size === 1) {
    return 'CONVOKE_ROLE: servers that share the work share a database; set CONVOKE_DATABASE_URL=postgres://…';
  }
  return undefined;
}

export function readCluster(value: ClusterValue, place: Place): ClusterConfig {
  const given = value('CONVOKE_MASTER_KEY_FILE');
  return {
    roles: new Set(value('CONVOKE_ROLE')),
    masterKeyFile: {
      path: resolve(place.dataDir, given === '' ? 'master.key' : resolve(given)),
      isGiven: given !== '',
    },
    wakeups: wakeupsOf(value, place),
    blobs: blobsOf(value),
    eventRetentionMs: value('CONVOKE_EVENT_RETENTION_DAYS') * dayMs,
    metricsToken: value('CONVOKE_METRICS_TOKEN'),
  };
}

function wakeupsOf(value: ClusterValue, { databaseUrl }: Place): WakeupsConfig {
  const kind = value('CONVOKE_WAKEUPS');
  if (kind === 'nats') return { kind, url: value('CONVOKE_NATS_URL') };
  if (kind !== 'auto') return { kind };
  return { kind: databaseUrl === undefined ? 'local' : 'postgres' };
}

function blobsOf(value: ClusterValue): BlobsConfig {
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
