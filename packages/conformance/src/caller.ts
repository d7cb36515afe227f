import type { Dialect } from './dialect.ts';
import { NotExercised } from './failure.ts';
import { at, textAt } from './fields.ts';
import type { Secrets } from './secrets.ts';
import { type Reply, type Request, type Server, hasStatus } from './server.ts';

export interface Workspace {
  readonly organizationId: string;
  readonly tenantId: string;
}

/** How a caller gets its token: with a client secret, or as one that exists. */
export type Credentials =
  | { readonly clientId: string; readonly clientSecret: string }
  | { readonly accessToken: string };

export interface Surroundings {
  readonly server: Server;
  readonly dialect: Dialect;
  readonly secrets: Secrets;
}

/** A backend that calls the application API in one workspace. */
export class Caller {
  readonly workspace: Workspace;
  readonly #around: Surroundings;
  readonly #credentials: Credentials;
  #token: Promise<string> | undefined;

  constructor(around: Surroundings, credentials: Credentials, workspace: Workspace) {
    this.#around = around;
    this.#credentials = credentials;
    this.workspace = workspace;
  }

  /** The same client with another tenant in its headers. */
  in(tenantId: string): Caller {
    const other = { ...this.workspace, tenantId };
    const caller = new Caller(this.#around, this.#credentials, other);
    caller.#token = this.#token;
    return caller;
  }

  token(): Promise<string> {
    this.#token ??= this.#obtain();
    return this.#token;
  }

  /** Gets another token for the next requests. */
  async renew(): Promise<string> {
    this.#token = this.#obtain();
    return await this.#token;
  }

  async headers(): Promise<Record<string, string>> {
    return {
      authorization: `Bearer ${await this.token()}`,
      'x-organization-id': this.workspace.organizationId,
      'x-workspace-tenant-id': this.workspace.tenantId,
    };
  }

  async send(request: Request): Promise<Reply> {
    const headers = { ...(await this.headers()), ...request.headers };
    return await this.#around.server.send({ ...request, headers });
  }

  get(path: string): Promise<Reply> {
    return this.send({ method: 'GET', path });
  }

  post(path: string, json?: unknown): Promise<Reply> {
    return this.send({ method: 'POST', path, ...(json !== undefined && { json }) });
  }

  async stream(request: Request): ReturnType<Server['stream']> {
    const headers = { ...(await this.headers()), ...request.headers };
    return await this.#around.server.stream({ ...request, headers });
  }

  async #obtain(): Promise<string> {
    if ('accessToken' in this.#credentials) return this.#credentials.accessToken;
    const { dialect, secrets } = this.#around;
    const reply = hasStatus(await requestToken(this.#around, this.#credentials), 200);
    return secrets.add(textAt(reply.body, dialect.token.access_token));
  }
}

/** Asks for a token as the dialect says; returns whatever the answer is. */
export async function requestToken(
  { server, dialect }: Surroundings,
  credentials: Credentials,
): Promise<Reply> {
  if ('accessToken' in credentials) {
    throw new NotExercised('needs --client-id and --client-secret instead of --access-token');
  }
  const { clientId, clientSecret } = credentials;
  const { path, authentication, form } = dialect.token;
  const isBasic = authentication === 'basic';
  const basic = Buffer.from(`${clientId}:${clientSecret}`).toString('base64');
  const fields = { ...form, ...(!isBasic && { client_id: clientId, client_secret: clientSecret }) };
  return await server.send({
    method: 'POST',
    path,
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      ...(isBasic && { authorization: `Basic ${basic}` }),
    },
    bytes: new URLSearchParams(fields).toString(),
  });
}

/** The workspaces that a token reaches. */
export function workspacesOf(body: unknown, { workspace }: Dialect): Workspace[] {
  const list = at(body, workspace.list);
  return (Array.isArray(list) ? list : []).map((item: unknown) => ({
    organizationId: textAt(item, 'organization_id'),
    tenantId: textAt(item, workspace.tenant_id),
  }));
}
