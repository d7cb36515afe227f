/** Errors of JSON-RPC and of the A2A protocol. */
export type A2aReason =
  | 'PARSE_ERROR'
  | 'INVALID_REQUEST'
  | 'METHOD_NOT_FOUND'
  | 'INVALID_PARAMS'
  | 'TASK_NOT_FOUND'
  | 'TASK_NOT_CANCELABLE'
  | 'PUSH_NOTIFICATION_NOT_SUPPORTED'
  | 'UNSUPPORTED_OPERATION'
  | 'CONTENT_TYPE_NOT_SUPPORTED'
  | 'EXTENDED_AGENT_CARD_NOT_CONFIGURED'
  | 'VERSION_NOT_SUPPORTED';

/** The error of a call, in the protocol of its client. The SDK's own handlers are not used (D-440). */
export class A2aError extends Error {
  override readonly name = 'A2aError';
  readonly reason: A2aReason;
  /** The code of our own API, where a use case refused. */
  readonly refusal: string | undefined;

  constructor(reason: A2aReason, message: string, refusal?: string) {
    super(message);
    this.reason = reason;
    this.refusal = refusal;
  }
}

export function failCall(reason: A2aReason, message: string): never {
  throw new A2aError(reason, message);
}
