import type * as commands from '@aws-sdk/client-s3';
import type { Upload } from '@aws-sdk/lib-storage';
import { StorageUnavailable } from '../ports/errors.ts';
import { errorCode, hasCode } from '../runtime/error-code.ts';

/** The version this adapter is tested with. */
const sdkVersion = '3.1164.0';
const sdkPackages = ['@aws-sdk/client-s3', '@aws-sdk/lib-storage'];

const connectTimeoutMs = 5_000;
/** Also limits the time between two chunks of a download, so it is longer than every other timeout. */
const idleTimeoutMs = 120_000;
/** Each download holds one; with the SDK's default of 50, slow readers would block all uploads. */
const connectionsMax = 512;

export interface S3Place {
  readonly bucket: string;
  /** Prefix of every key: empty, or ending in a slash. */
  readonly prefix: string;
  readonly endpoint: string | undefined;
  readonly region: string;
  readonly pathStyle: boolean;
}

export interface S3Sdk {
  readonly client: commands.S3Client;
  readonly commands: typeof commands;
  readonly Upload: typeof Upload;
}

/** Loads the SDK, which is 20 MB: only deployments that use S3 install and load it. */
export async function loadS3({ endpoint, region, pathStyle }: S3Place): Promise<S3Sdk> {
  const [sdk, storage] = await importSdk();
  const agent = { keepAlive: true, maxSockets: connectionsMax };
  const client = new sdk.S3Client({
    region,
    forcePathStyle: pathStyle,
    ...(endpoint !== undefined && { endpoint }),
    // Most stores other than Amazon's do not support checksums in trailers.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: connectTimeoutMs,
      socketTimeout: idleTimeoutMs,
      httpAgent: agent,
      httpsAgent: agent,
    },
  });
  return { client, commands: sdk, Upload: storage.Upload };
}

async function importSdk() {
  try {
    return await Promise.all([import('@aws-sdk/client-s3'), import('@aws-sdk/lib-storage')]);
  } catch (error) {
    if (!hasCode(error, 'ERR_MODULE_NOT_FOUND')) throw error;
    const wanted = sdkPackages.map((name) => `${name}@${sdkVersion}`).join(' ');
    throw new Error(
      `CONVOKE_BLOBS=s3://… needs the S3 SDK beside the server: npm install ${wanted}`,
      {
        cause: error,
      },
    );
  }
}

/** Turns every error of the S3 store into `StorageUnavailable`: no request of a client can cause one. */
export function unavailable(place: S3Place, error: unknown): StorageUnavailable {
  if (error instanceof StorageUnavailable) return error;
  return new StorageUnavailable(`${nameOf(place)}: ${reasonOf(error)}`, { cause: error });
}

function nameOf({ bucket, prefix, endpoint }: S3Place): string {
  return `the bucket s3://${bucket}/${prefix}${endpoint === undefined ? '' : ` at ${endpoint}`}`;
}

export function isAbsent(error: unknown): boolean {
  return error instanceof Error && (error.name === 'NoSuchKey' || error.name === 'NotFound');
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const advice = adviceBy.find(([names]) => names.includes(errorCode(error) ?? error.name))?.[1];
  const code = errorCode(error) ?? error.name;
  return `${advice ?? oneLine(error.message)} (${code})`;
}

const adviceBy: readonly (readonly [names: readonly string[], advice: string])[] = [
  [['NoSuchBucket'], 'the bucket does not exist; create it, or correct CONVOKE_BLOBS'],
  [
    ['InvalidAccessKeyId', 'SignatureDoesNotMatch', 'InvalidToken', 'ExpiredToken'],
    'the access key was rejected; check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
  ],
  [
    ['AccessDenied', 'Forbidden'],
    'the access key lacks permission to list, read, write and delete there',
  ],
  [
    ['CredentialsProviderError'],
    'no credentials were found; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
  ],
  [
    ['PermanentRedirect', 'AuthorizationHeaderMalformed', 'IllegalLocationConstraintException'],
    'the bucket is in another region; set CONVOKE_S3_REGION',
  ],
  [
    ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'TimeoutError'],
    'no answer; check CONVOKE_S3_ENDPOINT and the network',
  ],
];

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
