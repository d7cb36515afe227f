import type { Json } from '../../../domain/json.ts';

export type RpcId = string | number;

/** Codes of JSON-RPC and of the Model Context Protocol, each with its status of HTTP. */
const faults = {
  PARSE_ERROR: { code: -32700, status: 400 },
  INVALID_REQUEST: { code: -32600, status: 400 },
  METHOD_NOT_FOUND: { code: -32601, status: 404 },
  INVALID_PARAMS: { code: -32602, status: 200 },
  INVALID_ENVELOPE: { code: -32602, status: 400 },
  HEADER_MISMATCH: { code: -32020, status: 400 },
  UNSUPPORTED_VERSION: { code: -32022, status: 400 },
} as const;

/** The error of a message, in the protocol of its client. */
export class McpFault extends Error {
  override readonly name = 'McpFault';
  readonly reason: keyof typeof faults;
  readonly data: Json | undefined;

  constructor(reason: keyof typeof faults, message: string, data?: Json) {
    super(message);
    this.reason = reason;
    this.data = data;
  }
}

export function failMessage(reason: keyof typeof faults, message: string, data?: Json): never {
  throw new McpFault(reason, message, data);
}

/** The answer to a message with a fault. In the older era an unknown method is an answer like any other. */
export function faultReply(id: RpcId | null, { reason, message, data }: McpFault, isOld: boolean) {
  const { code, status } = faults[reason];
  const error = { code, message, ...(data !== undefined && { data }) };
  const body = { jsonrpc: '2.0', id, error } as const;
  return { status: isOld && status === 404 ? 200 : status, body } as const;
}
