import { describe, expect, test } from 'vitest';
import { requestsAs } from '../../../src/harness/ai-sdk/tools/mcp-account.ts';
import {
  type AccountHeader,
  type LegConnections,
  NotConnected,
} from '../../../src/ports/connections/leg-connections.ts';

const headerOf = (version: number): AccountHeader => {
  const secret = `token-${version}`;
  return { name: 'Authorization', value: `Bearer ${secret}`, secret, version };
};

/** An account whose owner changes it between two requests. */
class Account implements LegConnections {
  version: number | undefined = 1;
  /** The version that a refresh gives. */
  fresh: number | undefined;
  rejections = 0;

  atStart() {
    return headerOf(1);
  }

  async now() {
    if (this.version === undefined) throw new NotConnected('mail is not connected');
    return headerOf(this.version);
  }

  async refresh() {
    if (this.fresh === undefined) throw new NotConnected('mail has expired');
    this.version = this.fresh;
    return headerOf(this.fresh);
  }

  async reject(): Promise<never> {
    this.rejections += 1;
    throw new NotConnected('mail was rejected');
  }
}

describe('requests to an MCP server with an account', () => {
  /** A server that accepts some versions of the token. */
  function open(accepts: readonly number[]) {
    const account = new Account();
    const sent: (string | null)[] = [];
    const secrets: string[] = [];
    const requests = requestsAs(
      { service: 'mail', connections: account, onSecret: (secret) => secrets.push(secret) },
      async (_, init) => {
        const value = new Headers(init?.headers).get('authorization');
        sent.push(value);
        const isAccepted = accepts.some((version) => value === headerOf(version).value);
        return new Response(init?.body ?? null, { status: isAccepted ? 200 : 401 });
      },
    );
    const send = () => requests.fetch('https://mail.test/mcp', { method: 'POST', body: 'call' });
    return { account, sent, secrets, requests, send };
  }

  test('ask for it before each of them, so that a change counts for the next (D-597)', async () => {
    const { account, sent, secrets, send, requests } = open([1, 2]);
    expect(await (await send()).text()).toBe('call');
    account.version = 2;
    expect((await send()).status).toBe(200);
    expect(sent).toEqual(['Bearer token-1', 'Bearer token-2']);
    // Known to the redactor before it was sent (D-603).
    expect(secrets).toEqual(['token-1', 'token-2']);
    account.version = undefined;
    await expect(send()).rejects.toThrow('mail is not connected');
    expect(requests.problem()?.message).toBe('mail is not connected');
    expect(sent).toHaveLength(2);
  });

  test('are repeated once with a refreshed token after a 401 (D-600)', async () => {
    const { account, sent, secrets, send, requests } = open([2]);
    account.fresh = 2;
    expect((await send()).status).toBe(200);
    expect(sent).toEqual(['Bearer token-1', 'Bearer token-2']);
    expect(secrets).toEqual(['token-1', 'token-2']);
    expect(requests.problem()).toBeUndefined();
    expect(account.rejections).toBe(0);
  });

  test('end the account when the refreshed token is refused, too (D-600)', async () => {
    const { account, sent, send } = open([]);
    account.fresh = 2;
    await expect(send()).rejects.toThrow('mail was rejected');
    expect(sent).toHaveLength(2);
    expect(account.rejections).toBe(1);
  });

  test('are not repeated where nothing can be refreshed', async () => {
    const { sent, send } = open([]);
    await expect(send()).rejects.toThrow('mail has expired');
    expect(sent).toHaveLength(1);
  });
});
