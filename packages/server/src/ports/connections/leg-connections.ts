/** The accounts that a leg may use. Its harness asks by the name of a service, and knows nothing of owners. */
export interface LegConnections {
  /**
   * The header with which a program authorizes requests, as it was when the leg started. Undefined where an account
   * that the agent does not require is missing.
   */
  atStart(service: string): AccountHeader | undefined;
  /** The header for a request that the server sends now (D-597). Throws `NotConnected`. */
  now(service: string): Promise<AccountHeader>;
  /** The service refused this header: the one to repeat the request with (D-600). Throws `NotConnected`. */
  refresh(refused: AccountHeader, service: string): Promise<AccountHeader>;
  /** The service refused the refreshed header, too: the account expires. Throws `NotConnected`. */
  reject(refused: AccountHeader, service: string): Promise<never>;
}

export interface AccountHeader {
  /** `Authorization`, or the name that the connection has. */
  readonly name: string;
  readonly value: string;
  /** The secret itself, which is part of the value. */
  readonly secret: string;
  readonly version: number;
}

/** The account is gone, or cannot be used any more. The message may be shown to the model and to readers. */
export class NotConnected extends Error {
  override readonly name = 'NotConnected';
}
