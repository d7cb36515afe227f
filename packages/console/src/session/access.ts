import type { MeRecord } from '@convoke/sdk';
import { type ReadonlySignal, signal } from '@preact/signals';
import { inBackground } from '../data/in-background.ts';
import { changeSession, resources, session } from './session.ts';
import { type TenantScope, accountClient } from './tenant-clients.ts';
import { readWorkspaces } from './workspaces.ts';

/** An organization that the person was removed from while the page was open. */
export interface LeftOrganization {
  readonly id: string;
  readonly name: string;
  readonly tenants: readonly string[];
}

const leftNow = signal<readonly LeftOrganization[]>([]);
export const leftOrganizations: ReadonlySignal<readonly LeftOrganization[]> = leftNow;

/** The left organization to which the address of a screen leads. */
export function leftAt(params: {
  readonly org?: string | undefined;
  readonly tenant?: string | undefined;
}): LeftOrganization | undefined {
  return leftNow.value.find(
    ({ id, tenants }) => id === params.org || tenants.includes(params.tenant ?? ''),
  );
}

/**
 * Reads again where the person belongs and in which role, and says what has changed (D-791): an open page must not
 * offer what its person may no longer do. Without an answer the page keeps what it knows.
 */
export function readAccessAgain(scope: TenantScope, heard: AccessListener): void {
  inBackground(read(scope, heard).catch(() => undefined));
}

export interface AccessListener {
  /** Tells the person. */
  readonly say: (text: string) => void;
  /** Records say what their reader may do, and are read again: a rule may ask for the role that is gone. */
  readonly onRole: () => void;
}

async function read(scope: TenantScope, { say, onRole }: AccessListener): Promise<void> {
  const [me, workspaces] = await Promise.all([accountClient().me(), readWorkspaces()]);
  const before = session.value;
  if (before.kind !== 'in' || before.me.user_id !== me.user_id) return;
  const changes = changesOf(before.me, me);
  if (changes.length === 0) return;
  const gone = changes.flatMap(({ id, name, role }) => {
    if (role !== undefined) return [];
    const own = before.workspaces.filter(({ organization_id: of }) => of === id);
    return [{ id, name, tenants: own.map(({ tenant }) => tenant.tenant_id) }];
  });
  if (gone.length > 0) resources.clear();
  leftNow.value = [...leftNow.value.filter(({ id }) => !belongs(me, id)), ...gone];
  changeSession({ ...before, me, workspaces });
  for (const { name, role } of changes) {
    if (role !== undefined) say(`Your role in ${name} is now ${role}.`);
  }
  if (workspaces.some(({ tenant }) => tenant.tenant_id === scope.tenantId)) {
    await scope.renewRights();
    onRole();
  }
}

function belongs(me: MeRecord, id: string): boolean {
  return me.memberships.some(({ organization_id: other }) => other === id);
}

/** Organizations in which the role is another one, or none. */
function changesOf(before: MeRecord, now: MeRecord) {
  return before.memberships.flatMap(({ organization_id: id, organization_name: name, role }) => {
    const found = now.memberships.find(({ organization_id: other }) => other === id);
    return found?.role === role ? [] : [{ id, name, role: found?.role }];
  });
}
