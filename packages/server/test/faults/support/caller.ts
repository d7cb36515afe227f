import {
  type InteractionRecord,
  type RunRecord,
  type SessionRecord,
  interactionRecord,
  runRecord,
  sessionRecord,
  tokenResponse,
} from '@convoke/contract';
import { z } from 'zod';
import { type Reply, exchange } from './exchange.ts';
import { type Quickstart, type ServerFolder, readQuickstart } from './server-folder.ts';

export interface RunAt {
  readonly sessionId: string;
  readonly runId: string;
}

/** How a request gets there: to which of several servers, and how long an answer may take. */
export interface Way {
  readonly baseUrl: () => string;
  readonly timeoutMs: number | undefined;
}

const runList = z.object({ runs: z.array(runRecord) });
const interactionList = z.object({ interactions: z.array(interactionRecord) });

/** A backend of the application API, with nothing but HTTP. A reply is read by the contract's schemas. */
export class Caller {
  readonly #quickstart: Quickstart;
  readonly #way: Way;
  #token = '';

  private constructor(quickstart: Quickstart, way: Partial<Way>) {
    this.#quickstart = quickstart;
    this.#way = { baseUrl: () => quickstart.base_url, timeoutMs: undefined, ...way };
  }

  static async open(folder: ServerFolder, way: Partial<Way> = {}): Promise<Caller> {
    const caller = new Caller(readQuickstart(folder), way);
    await caller.renewToken();
    return caller;
  }

  get baseUrl(): string {
    return this.#way.baseUrl();
  }

  get headers(): Record<string, string> {
    return {
      authorization: `Bearer ${this.#token}`,
      'x-organization-id': this.#quickstart.organization_id,
      'x-workspace-tenant-id': this.#quickstart.tenant_id,
    };
  }

  async renewToken(): Promise<void> {
    const { status, body } = await this.askForToken();
    if (status !== 200) throw new Error(`no token: ${status} ${JSON.stringify(body)}`);
    this.#token = tokenResponse.parse(body).access_token;
  }

  async askForToken(): Promise<Reply> {
    const { client_id, client_secret } = this.#quickstart;
    const basic = Buffer.from(`${client_id}:${client_secret}`).toString('base64');
    return exchange({
      method: 'POST',
      url: `${this.#way.baseUrl()}/v1/oauth/token`,
      timeoutMs: this.#way.timeoutMs,
      headers: {
        authorization: `Basic ${basic}`,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: 'grant_type=client_credentials',
    });
  }

  async call(method: string, path: string, body?: object): Promise<Reply> {
    return exchange({
      method,
      url: this.#way.baseUrl() + path,
      timeoutMs: this.#way.timeoutMs,
      headers: {
        ...this.headers,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  async openSession(agentName: string): Promise<SessionRecord> {
    return sessionRecord.parse(
      expected(await this.call('POST', '/v1/sessions', { agent_name: agentName }), [201]),
    );
  }

  async session(sessionId: string): Promise<SessionRecord> {
    return sessionRecord.parse(
      expected(await this.call('GET', `/v1/sessions/${sessionId}`), [200]),
    );
  }

  async startRun(sessionId: string, prompt: string, key?: string): Promise<RunRecord> {
    const { body } = await this.tryStartRun(sessionId, prompt, key);
    return body;
  }

  async tryStartRun(
    sessionId: string,
    prompt: string,
    key?: string,
  ): Promise<{ status: number; body: RunRecord }> {
    const reply = await this.call('POST', `/v1/sessions/${sessionId}/runs`, {
      input: { prompt },
      ...(key === undefined ? {} : { idempotency_key: key }),
    });
    return { status: reply.status, body: runRecord.parse(expected(reply, [200, 201])) };
  }

  async run(at: RunAt): Promise<RunRecord> {
    return runRecord.parse(expected(await this.call('GET', runPath(at)), [200]));
  }

  async runs(sessionId: string): Promise<RunRecord[]> {
    const reply = await this.call('GET', `/v1/sessions/${sessionId}/runs?limit=100&order=asc`);
    return runList.parse(expected(reply, [200])).runs;
  }

  async cancel(at: RunAt): Promise<RunRecord> {
    const reply = await this.call('POST', `${runPath(at)}/cancel`);
    return runRecord.parse(expected(reply, [200, 202]));
  }

  async interactions(sessionId: string, status = 'pending'): Promise<InteractionRecord[]> {
    const reply = await this.call('GET', `/v1/sessions/${sessionId}/interactions?status=${status}`);
    return interactionList.parse(expected(reply, [200])).interactions;
  }

  async answer(sessionId: string, key: string, body: object): Promise<InteractionRecord> {
    const path = `/v1/sessions/${sessionId}/interactions/${key}/answer`;
    return interactionRecord.parse(expected(await this.call('POST', path, body), [200]));
  }
}

export function runPath({ sessionId, runId }: RunAt): string {
  return `/v1/sessions/${sessionId}/runs/${runId}`;
}

export function expected({ status, body }: Reply, statuses: readonly number[]): unknown {
  if (statuses.includes(status)) return body;
  throw new Error(`expected ${statuses.join(' or ')}, got ${status} ${JSON.stringify(body)}`);
}
