import type * as commands from '@aws-sdk/client-s3';
import type { Upload } from '@aws-sdk/lib-storage';
import { StorageUnavailable } from '../ports/errors.ts';
import { errorCode } from '../runtime/error-code.ts';

/** The version this adapter was driven with. */
const sdkVersion = '3.1164.0';
const sdkPackages = ['@aws-sdk/client-s3', '@aws-sdk/lib-storage'];

const connectTimeoutMs = 5_000;
/** Also what a reader may take between two chunks, so it is longer than any patience of ours. */
const idleTimeoutMs = 120_000;
/** Each download holds one; the SDK's own bound of 50 would let slow readers stop everybody's uploads. */
const connectionsMax = 512;

export interface S3Place {
  readonly bucket: string;
  /** Empty, or what every key starts with, ending in a slash. */
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

/** The SDK weighs 20 MB and most servers never need it: it is installed and loaded by who does. */
export async function loadS3({ endpoint, region, pathStyle }: S3Place): Promise<S3Sdk> {
  const [sdk, storage] = await importSdk();
  const agent = { keepAlive: true, maxSockets: connectionsMax };
  const client = new sdk.S3Client({
    region,
    forcePathStyle: pathStyle,
    ...(endpoint !== undefined && { endpoint }),
    // Checksums in trailers are unknown to most stores but Amazon's.
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
    if (errorCode(error) !== 'ERR_MODULE_NOT_FOUND') throw error;
    const wanted = sdkPackages.map((name) => `${name}@${sdkVersion}`).join(' ');
    throw new Error(
      `CONVOKE_BLOBS=s3://… needs the S3 SDK beside the server: npm install ${wanted}`,
      {
        cause: error,
      },
    );
  }
}

/** Whatever an S3 store does not do is trouble of the storage: nothing in a request of ours can be at fault. */
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
  [['NoSuchBucket'], 'there is no such bucket; make it, or correct CONVOKE_BLOBS'],
  [
    ['InvalidAccessKeyId', 'SignatureDoesNotMatch', 'InvalidToken', 'ExpiredToken'],
    'the key is refused; check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
  ],
  [['AccessDenied', 'Forbidden'], 'the key may not list, read, write and delete there'],
  [
    ['CredentialsProviderError'],
    'no credentials were found; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
  ],
  [
    ['PermanentRedirect', 'AuthorizationHeaderMalformed', 'IllegalLocationConstraintException'],
    'it is in another region; set CONVOKE_S3_REGION',
  ],
  [
    ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'TimeoutError'],
    'it does not answer; check CONVOKE_S3_ENDPOINT and the network',
  ],
];

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
