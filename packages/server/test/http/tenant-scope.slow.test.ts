// Every statement names its tenant. This test breaks that on purpose, so only row-level security is left.
import {
  type OperationId,
  operations,
  organizationId,
  pathParams,
  tenantId,
} from '@convoke/contract';
import { describe, expect, test } from 'vitest';
import type { TenantScope } from '../../src/domain/scope.ts';
import type { Store } from '../../src/ports/store.ts';
import { pathOf } from '../support/checked-calls.ts';
import { startServer } from '../support/server.ts';
import { type TenantData, fillTenant, tenantDataAgents } from '../support/tenant-data.ts';
import { validCalls } from '../support/valid-calls.ts';

/** A store that replaces the tenant of every call by another one. */
class MistakenStore {
  mistake: TenantScope | undefined;

  readonly wrap = (store: Store): Store => ({
    ...store,
    read: this.#around(store.read),
    transaction: (work) => store.transaction((tx) => work(this.#around(tx))),
  });

  #around<Part extends object>(part: Part): Part {
    return new Proxy(part, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member === 'function') {
          const call = member.bind(target) as (...args: readonly unknown[]) => unknown;
          return (...args: readonly unknown[]) => call(...args.map((each) => this.#mistaken(each)));
        }
        return typeof member === 'object' && member !== null ? this.#around(member) : member;
      },
    });
  }

  #mistaken(value: unknown): unknown {
    const isScope = typeof value === 'object' && value !== null && 'tenantId' in value;
    return isScope && this.mistake !== undefined ? { ...value, ...this.mistake } : value;
  }
}

const reaching = (Object.keys(operations) as OperationId[]).filter(
  (id) =>
    operations[id].caller === 'automation' &&
    pathParams(operations[id].path).includes('session_id'),
);

async function scene(database: 'sqlite' | 'postgres') {
  const storage = new MistakenStore();
  const server = await startServer({ database, agents: tenantDataAgents, wrapStore: storage.wrap });
  const ours = await fillTenant(server, 'canaryours');
  const theirs = await fillTenant(server, 'canarytheirs');
  /** Calls as our client, with their ids, while the store takes our tenant for theirs. */
  async function ask(id: OperationId, whose: TenantData): Promise<string> {
    const { body, headers = {} } = await validCalls[id](server, ours);
    const named = { chat_id: 'chat', key: 'rating', service: 'github' };
    const path = pathOf(id, { params: { ...whose.ids, ...named } });
    storage.mistake = scopeOf(theirs);
    const answer = await server.call(operations[id].method, path, { as: ours.as, body, headers });
    storage.mistake = undefined;
    return `${answer.status} ${answer.text}`;
  }
  return { ask, theirs };
}

function scopeOf({ ids }: TenantData): TenantScope {
  return {
    organizationId: organizationId(ids.organization_id),
    tenantId: tenantId(ids.tenant_id),
  };
}

describe('a server that mistakes one tenant for another', () => {
  test('shows and changes nothing on PostgreSQL, in any operation', async () => {
    const { ask, theirs } = await scene('postgres');
    expect(reaching.length).toBeGreaterThan(12);
    for (const id of reaching)
      expect([id, await ask(id, theirs)]).toEqual([id, expect.stringMatching(/^404 /)]);
  });

  test('leaks on SQLite, which has no row-level security', async () => {
    const { ask, theirs } = await scene('sqlite');
    expect(await ask('get_run', theirs)).toMatch(/^200 .*canarytheirs/);
    expect(await ask('stop_session', theirs)).toMatch(/^20/);
  });
});
