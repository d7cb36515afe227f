import { limits } from '@convoke/contract';
import { z } from 'zod';
import { Refusal } from '../../../app/refusal.ts';
import { type JsonObject, isObject } from '../../../domain/json.ts';
import { McpFault, type RpcId, failMessage } from './failure.ts';

/** The revision whose requests carry all that the server needs to know of their client. */
export const newestVersion = '2026-07-28';
/** Those that begin with `initialize`, the newest first. */
export const olderVersions = ['2025-11-25', '2025-06-18', '2025-03-26'] as const;
const supported = [newestVersion, ...olderVersions];

const versionKey = 'io.modelcontextprotocol/protocolVersion';
const capabilitiesKey = 'io.modelcontextprotocol/clientCapabilities';

/** A message of a client. `isOld` says of which era it is (D-612). */
export type McpMessage =
  | (McpRequest & { readonly kind: 'request' })
  | {
      readonly kind: 'notification';
      readonly method: string;
      readonly params: JsonObject;
      readonly isOld: boolean;
    }
  | {
      readonly kind: 'response';
      readonly id: RpcId;
      /** Undefined for an error. */
      readonly result: JsonObject | undefined;
      readonly isOld: true;
    };

export interface McpRequest {
  readonly id: RpcId;
  readonly method: string;
  readonly params: JsonObject;
  readonly isOld: boolean;
  /** Of the client, as this request has them. In the older era only `initialize` does. */
  readonly capabilities: JsonObject;
}

export interface McpHeaders {
  readonly 'mcp-protocol-version'?: string | undefined;
  readonly 'mcp-method'?: string | undefined;
  readonly 'mcp-name'?: string | undefined;
}

const rpcId = z.union([z.string().max(limits.nameMaxCharacters), z.int()]);
const object = z.record(z.string(), z.unknown());
const call = z.looseObject({
  jsonrpc: z.literal('2.0'),
  id: rpcId.optional(),
  method: z.string().min(1).max(limits.nameMaxCharacters),
  params: object.optional(),
});
const response = z.looseObject({
  jsonrpc: z.literal('2.0'),
  id: rpcId,
  result: object.optional(),
  error: object.optional(),
});

/** The id of a message that may have a fault, for its answer. */
export function idOf(body: unknown): RpcId | null {
  return z.looseObject({ id: rpcId }).safeParse(body).data?.id ?? null;
}

/** Reads a message; a refusal stands for bytes that are not JSON. */
export function readMessage(body: unknown, headers: McpHeaders): McpMessage {
  if (body instanceof Refusal) throw new McpFault('PARSE_ERROR', body.message);
  if (Array.isArray(body)) failMessage('INVALID_REQUEST', 'Send one message at a time.');
  const read = call.safeParse(body);
  if (!read.success) return readResponse(body);
  const { id, method } = read.data;
  const params = (read.data.params ?? {}) as JsonObject;
  const meta = isObject(params['_meta']) ? params['_meta'] : {};
  const isOld = meta[versionKey] === undefined;
  if (id === undefined) return { kind: 'notification', method, params, isOld };
  if (isOld) refuseOtherVersion(method, headers);
  else checkEnvelope({ method, params, meta }, headers);
  const said = isOld ? params['capabilities'] : meta[capabilitiesKey];
  const capabilities = isObject(said) ? said : {};
  return { kind: 'request', id, method, params, isOld, capabilities };
}

function readResponse(body: unknown): McpMessage {
  const read = response.safeParse(body);
  const { id, result, error } = read.data ?? {};
  if (id === undefined || (result === undefined) === (error === undefined)) {
    return failMessage('INVALID_REQUEST', 'The body must be one message of JSON-RPC 2.0.');
  }
  return { kind: 'response', id, result: result as JsonObject | undefined, isOld: true };
}

function refuseOtherVersion(method: string, headers: McpHeaders): void {
  const { 'mcp-protocol-version': said } = headers;
  const version = said?.trim();
  // `initialize` settles the version.
  if (version === undefined || version === '' || method === 'initialize') return;
  if (version === newestVersion) {
    failMessage('INVALID_ENVELOPE', `params._meta must have ${versionKey}, as the header says.`);
  }
  if (!supported.includes(version)) refuseVersion(version);
}

interface Envelope {
  readonly method: string;
  readonly params: JsonObject;
  readonly meta: JsonObject;
}

/** Proxies decide by the headers and the server by the body, so that they must say the same. */
function checkEnvelope({ method, params, meta }: Envelope, headers: McpHeaders): void {
  const version = meta[versionKey];
  if (typeof version !== 'string') {
    return failMessage('INVALID_ENVELOPE', `${versionKey} must be a string.`);
  }
  requireSame('MCP-Protocol-Version', headers['mcp-protocol-version'], version);
  if (version !== newestVersion) refuseVersion(version);
  if (!isObject(meta[capabilitiesKey])) {
    failMessage('INVALID_ENVELOPE', `${capabilitiesKey} must be an object.`);
  }
  requireSame('Mcp-Method', headers['mcp-method'], method);
  if (method !== 'tools/call' || typeof params['name'] !== 'string') return;
  requireSame('Mcp-Name', decoded(headers['mcp-name']), params['name']);
}

function requireSame(name: string, sent: string | undefined, inBody: string): void {
  if (sent?.trim() === inBody) return;
  const what = sent === undefined ? 'is missing' : 'differs from the body';
  failMessage('HEADER_MISMATCH', `The header ${name} ${what}.`);
}

/** A name that no header can have is sent as `=?base64?…?=`. */
function decoded(value: string | undefined): string | undefined {
  const encoded = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/.exec(value?.trim() ?? '')?.[1];
  return encoded === undefined ? value : Buffer.from(encoded, 'base64').toString();
}

function refuseVersion(requested: string): never {
  const message = `The version must be one of ${supported.join(', ')}.`;
  return failMessage('UNSUPPORTED_VERSION', message, {
    supported,
    requested: requested.slice(0, limits.nameMaxCharacters),
  });
}
