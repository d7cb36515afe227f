import {
  type AccountHeader,
  type LegConnections,
  NotConnected,
} from '../../../ports/connections/leg-connections.ts';

/** The account that authorizes the requests to one MCP server. */
export interface McpAccount {
  readonly service: string;
  readonly connections: LegConnections;
  /** Called with each secret before it is used, so that it is removed from texts. */
  readonly onSecret: (secret: string) => void;
}

/** Requests with an account, and the state of that account. */
export interface AuthorizedRequests {
  readonly fetch: typeof fetch;
  /** Why a request could not be authorized, or was refused for good. */
  problem(): NotConnected | undefined;
}

/**
 * Asks for the account before every request, so that a revocation or a refresh counts for the next one (D-597). A
 * request that was refused with 401 was not carried out: it is repeated once with a refreshed token (D-600).
 */
export function requestsAs(
  { service, connections, onSecret }: McpAccount,
  send: typeof fetch,
): AuthorizedRequests {
  let problem: NotConnected | undefined;
  const sendWith = (account: AccountHeader, [input, init]: Parameters<typeof fetch>) => {
    onSecret(account.secret);
    const headers = new Headers(init?.headers);
    headers.set(account.name, account.value);
    return send(input, { ...init, headers });
  };
  const sendOnce = async (request: Parameters<typeof fetch>) => {
    const used = await connections.now(service);
    const response = await sendWith(used, request);
    if (response.status !== 401) return response;
    await response.body?.cancel();
    const next = await connections.refresh(used, service);
    const again = await sendWith(next, request);
    if (again.status !== 401) return again;
    await again.body?.cancel();
    return connections.reject(next, service);
  };
  return {
    async fetch(...request) {
      try {
        return await sendOnce(request);
      } catch (error) {
        if (error instanceof NotConnected) problem = error;
        throw error;
      }
    },
    problem: () => problem,
  };
}
