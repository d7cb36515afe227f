import { randomUUID } from 'node:crypto';
import { type Credentials, type Surroundings, Caller, type Workspace } from './caller.ts';
import { at, textAt } from './fields.ts';
import { type Reply, type Request, hasStatus } from './server.ts';
import { waitFor } from './steps.ts';

export interface MadeClient {
  readonly id: string;
  readonly clientId: string;
  readonly secret: string;
  readonly created: Reply;
}

/** An owner or admin who manages the organization. */
export class Owner {
  readonly organizationId: string;
  readonly token: string;
  readonly #around: Surroundings;
  /** Resources that are still to be removed. */
  readonly #clients = new Set<string>();
  readonly #tenants = new Set<string>();

  constructor(around: Surroundings, token: string, organizationId: string) {
    this.#around = around;
    this.token = token;
    this.organizationId = organizationId;
  }

  /** `m2m` or `tenants`, with what follows. */
  path(rest: string): string {
    return `/v1/organizations/${this.organizationId}/${rest}`;
  }

  /** One request, whatever the answer. */
  sendOnce(request: Request): Promise<Reply> {
    return this.#around.server.sendOnce(this.#signed(request));
  }

  send(request: Request): Promise<Reply> {
    return this.#around.server.send(this.#signed(request));
  }

  get(rest: string): Promise<Reply> {
    return this.send({ method: 'GET', path: this.path(rest) });
  }

  /** With an Idempotency-Key of its own unless one is given. */
  post(rest: string, json: unknown, key = newKey()): Promise<Reply> {
    const headers = { 'idempotency-key': key };
    return this.send({ method: 'POST', path: this.path(rest), json, headers });
  }

  patch(rest: string, json: unknown): Promise<Reply> {
    return this.send({ method: 'PATCH', path: this.path(rest), json });
  }

  async delete(rest: string): Promise<Reply> {
    const reply = await this.send({ method: 'DELETE', path: this.path(rest) });
    this.#clients.delete(rest.replace(/^m2m\//, ''));
    return reply;
  }

  async makeClient(body: object = {}): Promise<MadeClient> {
    const whole = { name: 'Conformance', profile: 'invoke', ...body };
    return this.keep(hasStatus(await this.post('m2m', whole), 201));
  }

  /** Remembers a client that was created, to be deleted at the end. */
  keep(created: Reply): MadeClient {
    const { secrets, dialect } = this.#around;
    const id = textAt(created.body, 'client.id');
    this.#clients.add(id);
    return {
      id,
      clientId: textAt(created.body, 'client_id'),
      secret: secrets.add(textAt(created.body, dialect.credential.secret)),
      created,
    };
  }

  callerOf({ clientId, secret }: MadeClient, tenantId: string): Caller {
    const credentials: Credentials = { clientId, clientSecret: secret };
    const workspace: Workspace = { organizationId: this.organizationId, tenantId };
    return new Caller(this.#around, credentials, workspace);
  }

  async makeTenant(name = 'Conformance'): Promise<string> {
    const { tenant } = this.#around.dialect;
    const body = { display_name: name, mode: tenant.mode };
    const reply = hasStatus(await this.post('tenants', body), 202);
    return this.keepTenant(textAt(at(reply.body, tenant.record), 'id'));
  }

  keepTenant(id: string): string {
    this.#tenants.add(id);
    return id;
  }

  async tenant(id: string): Promise<unknown> {
    const { tenant } = this.#around.dialect;
    return at(hasStatus(await this.get(`tenants/${id}`), 200).body, tenant.record);
  }

  async usableTenant(name?: string): Promise<string> {
    const { attachment } = this.#around.dialect.tenant;
    const id = await this.makeTenant(name);
    await waitFor(`tenant ${id} is active and ready`, async () => {
      const record = await this.tenant(id);
      return at(record, 'status') === 'active' && at(record, attachment) === 'ready';
    });
    return id;
  }

  async offboard(id: string): Promise<Reply> {
    const path = this.path(`tenants/${id}:offboard`);
    const reply = await this.send({ method: 'POST', path, json: { confirm: id } });
    this.#tenants.delete(id);
    return reply;
  }

  /** Removes the remaining clients and tenants. */
  async cleanUp(): Promise<void> {
    for (const id of this.#clients) await this.delete(`m2m/${id}`);
    for (const id of this.#tenants) await this.offboard(id);
  }

  #signed(request: Request): Request {
    const headers = { authorization: `Bearer ${this.token}`, ...request.headers };
    return { ...request, headers };
  }
}

export function newKey(): string {
  return `conformance-${randomUUID()}`;
}
