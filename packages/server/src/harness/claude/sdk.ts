import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { errorCode } from '../../runtime/error-code.ts';
import { LegFailure } from '../leg-failure.ts';

/** The version this adapter is tested with. */
export const claudeSdkVersion = '0.3.325';
const packageName = '@anthropic-ai/claude-agent-sdk';

/**
 * The part of the SDK that is used. The SDK is Anthropic's, has its own terms and 400 MB, so Convoke does not install
 * it: an operator who wants Claude agents installs it beside the server. Hence its types are not imported either.
 */
export interface ClaudeSdk {
  query(call: {
    prompt: AsyncIterable<unknown>;
    options: Readonly<Record<string, unknown>>;
  }): Query;
}

export interface Query extends AsyncIterable<unknown> {
  interrupt(): Promise<unknown>;
}

/** Loads the SDK when the first agent needs it: the package beside the server, or the one at a path. */
export async function loadClaudeSdk(place: string = packageName): Promise<ClaudeSdk> {
  const found: unknown = await import(pathToFileURL(fileOf(place)).href);
  if (isSdk(found)) return found;
  throw new LegFailure('agent_error', `The installed ${packageName} is not supported.`);
}

const missing = `This server has no ${packageName}. Its operator can install it beside the server: npm install ${packageName}@${claudeSdkVersion}`;

/** Says that the SDK is not installed; undefined if it is. Loads nothing. */
export function claudeSdkProblem(place: string = packageName): string | undefined {
  return installedFile(place) === undefined ? missing : undefined;
}

function fileOf(place: string): string {
  const file = installedFile(place);
  if (file === undefined) throw new LegFailure('agent_error', missing);
  return file;
}

function installedFile(place: string): string | undefined {
  try {
    return createRequire(import.meta.url).resolve(place);
  } catch (cause) {
    if (errorCode(cause) === 'MODULE_NOT_FOUND') return undefined;
    throw cause;
  }
}

function isSdk(module: unknown): module is ClaudeSdk {
  return (
    typeof module === 'object' &&
    module !== null &&
    'query' in module &&
    typeof module.query === 'function'
  );
}
