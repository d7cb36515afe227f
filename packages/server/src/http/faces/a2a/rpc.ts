import { type ErrorCode, errors, limits } from '@convoke/contract';
import { z } from 'zod';
import { A2aError, type A2aReason, failCall } from '../../../app/faces/a2a/failure.ts';
import { Refusal } from '../../../app/refusal.ts';

/** The versions of the protocol that this face speaks. */
export type A2aVersion = '1.0' | '0.3';

export type RpcId = string | number | null;

/** Codes of JSON-RPC and of the A2A protocol. */
const codes = {
  PARSE_ERROR: -32700,
  INVALID_REQUEST: -32600,
  METHOD_NOT_FOUND: -32601,
  INVALID_PARAMS: -32602,
  TASK_NOT_FOUND: -32001,
  TASK_NOT_CANCELABLE: -32002,
  PUSH_NOTIFICATION_NOT_SUPPORTED: -32003,
  UNSUPPORTED_OPERATION: -32004,
  CONTENT_TYPE_NOT_SUPPORTED: -32005,
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: -32007,
  VERSION_NOT_SUPPORTED: -32009,
} as const satisfies Readonly<Record<A2aReason, number>>;

export interface RpcCall {
  readonly id: RpcId;
  readonly method: string;
  readonly params: unknown;
  /** Whether it has no id, so that there is nothing to answer (JSON-RPC 2.0, section 4.1). */
  readonly isNotification: boolean;
}

/** The id is repeated in every frame of a stream. */
const rpcId = z.union([z.string().max(limits.nameMaxCharacters), z.int(), z.null()]);
const rpcCall = z.looseObject({
  jsonrpc: z.literal('2.0'),
  id: rpcId.optional(),
  method: z.string().min(1).max(limits.nameMaxCharacters),
  params: z.unknown().optional(),
});

/** Reads the envelope; a refusal stands for bytes that are not JSON or exceed its bounds. */
export function readCall(
  body: unknown,
): RpcCall | { readonly id: RpcId; readonly error: A2aError } {
  if (body instanceof Refusal) {
    return { id: null, error: new A2aError('PARSE_ERROR', body.message) };
  }
  const read = rpcCall.safeParse(body);
  if (read.success) {
    const { id, method, params } = read.data;
    return { id: id ?? null, method, params, isNotification: id === undefined };
  }
  const id = z.looseObject({ id: rpcId }).safeParse(body).data?.id ?? null;
  const message = 'The body must be one request of JSON-RPC 2.0.';
  return { id, error: new A2aError('INVALID_REQUEST', message) };
}

/**
 * Header and parameter are the same; a request with two versions is refused, because either may be the wrong one
 * (D-471).
 */
export function versionOf(header: string | undefined, parameter?: string): A2aVersion {
  const said = [header, parameter].map((text) => text?.trim() ?? '').filter((text) => text !== '');
  const [version = '0.3', ...others] = said.map(readVersion);
  if (others.every((other) => other === version)) return version;
  return failCall('INVALID_REQUEST', 'The header and the parameter A2A-Version differ.');
}

/** D-239: absent means 0.3, the last version that had no such header. */
function readVersion(version: string): A2aVersion {
  if (/^0\.3(\.\d{1,3})?$/.test(version)) return '0.3';
  if (/^1(\.0(\.\d{1,3})?)?$/.test(version)) return '1.0';
  return failCall('VERSION_NOT_SUPPORTED', 'A2A-Version must be 1.0 or 0.3.');
}

export function resultOf(id: RpcId, result: unknown) {
  return { jsonrpc: '2.0', id, result } as const;
}

export function failureOf(id: RpcId, { reason, message, refusal }: A2aError) {
  const info = {
    '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
    reason: refusal?.toUpperCase() ?? reason,
    domain: refusal === undefined ? 'a2a-protocol.org' : 'convoke',
  };
  return { jsonrpc: '2.0', id, error: { code: codes[reason], message, data: [info] } } as const;
}

/** Turns a refusal of a use case into an error of the protocol. What concerns the connection is thrown again. */
export function rpcErrorOf(error: unknown): A2aError {
  if (error instanceof A2aError) return error;
  if (!(error instanceof Refusal)) throw error;
  const { code, message } = error;
  const reason = reasonOf(code);
  if (reason === undefined) throw error;
  return new A2aError(reason, message, code);
}

function reasonOf(code: ErrorCode): A2aReason | undefined {
  if (code === 'run_terminal') return 'TASK_NOT_CANCELABLE';
  if (code === 'not_found') return 'TASK_NOT_FOUND';
  if (code === 'idempotency_conflict') return 'INVALID_PARAMS';
  if (code === 'not_an_approver') return 'UNSUPPORTED_OPERATION';
  const { status } = errors[code];
  if (status === 400) return 'INVALID_PARAMS';
  return status === 409 ? 'UNSUPPORTED_OPERATION' : undefined;
}
