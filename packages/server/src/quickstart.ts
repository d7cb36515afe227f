import { open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type OrganizationId,
  type UserId,
  clientId,
  credentialId,
  idPrefixes,
  limits,
  tenantId,
} from '@convoke/contract';
import { z } from 'zod';
import { recordAudit } from './app/audit.ts';
import { firstLabel, issueCredential, oauthClientPrefix } from './app/clients.ts';
import { joinOrganization, openOrganization } from './app/organizations.ts';
import type { Services } from './app/services.ts';
import { issuePersonToken } from './auth/tokens/person-tokens.ts';
import { makeSignInLink } from './auth/sign-in/link.ts';
import type { Tokens } from './auth/tokens/tokens.ts';
import type { Actor, AuditEntry } from './domain/audit.ts';
import { openClient } from './domain/client.ts';
import { type Tenant, openTenant, provisioned, provisioningSteps } from './domain/tenant.ts';
import type { Ids } from './ports/ids.ts';
import type { Secrets } from './ports/secrets.ts';
import type { StoreTransaction } from './ports/store.ts';

/** Addresses and secrets for a first call, in `quickstart.json` of the data folder, readable by its owner only. */
const quickstart = z.object({
  base_url: z.string(),
  organization_id: z.string(),
  tenant_id: z.string(),
  owner_email: z.string(),
  owner_token: z.string(),
  client_id: z.string(),
  client_secret: z.string(),
});

export type Quickstart = z.infer<typeof quickstart>;

export interface QuickstartParts {
  readonly services: Pick<Services, 'store' | 'clock' | 'ids'>;
  readonly tokens: Tokens;
  readonly secrets: Secrets;
  readonly dataDir: string;
  readonly baseUrl: string;
}

export const quickstartOwner = 'owner@convoke.local';
/** Twelve hours; every start of the development server issues a new token. */
const ownerTokenSeconds = 12 * 3600;

/** The actor in the audit log. */
const starter: Actor = { kind: 'operator', id: 'convoke dev', requestId: null, address: null };

/**
 * Creates an organization, a usable tenant, an owner and an automation client on the first start. Later starts renew
 * the token of the owner. A client secret that was lost with the file is replaced, because it cannot be read back.
 */
export async function ensureQuickstart(parts: QuickstartParts): Promise<Quickstart> {
  const { services, tokens, dataDir, baseUrl } = parts;
  const known = await readQuickstart(dataDir);
  const isCurrent =
    known !== undefined &&
    (await services.store.read.clients.findByOAuthId(known.client_id)) !== undefined;
  const made = isCurrent ? known : await makeQuickstart(parts);
  const owner = await services.store.read.organizations.findUserByEmail(made.owner_email);
  if (owner === undefined) throw new Error(`${made.owner_email} is no longer in the database`);
  const request = { userId: owner.id, lifetimeSeconds: ownerTokenSeconds, by: starter };
  const { token } = await issuePersonToken({ ...services, tokens }, request);
  const current = { ...made, base_url: baseUrl, owner_token: token };
  await writeQuickstart(dataDir, current);
  return current;
}

/** The address of a one-time link for the owner; undefined where people sign in elsewhere, or there is no owner. */
export async function quickstartLink({
  services,
  baseUrl,
  hasConsole,
  peopleIssuer,
}: Pick<QuickstartParts, 'services' | 'baseUrl'> & {
  readonly hasConsole: boolean;
  readonly peopleIssuer: unknown;
}): Promise<string | undefined> {
  if (peopleIssuer !== undefined) return undefined;
  const owner = await services.store.read.organizations.findUserByEmail(quickstartOwner);
  if (owner === undefined) return undefined;
  const parts = { ...services, baseUrl, hasConsole };
  return (await makeSignInLink(parts, { userId: owner.id, by: starter }))?.url;
}

async function makeQuickstart({ services, secrets }: QuickstartParts): Promise<Quickstart> {
  const { store, clock, ids } = services;
  const now = clock.now();
  return store.transaction(async (tx) => {
    const { organizationId, ownerId } = await ensureOrganization(services, tx);
    const note = (entry: Pick<AuditEntry, 'action' | 'object'>) =>
      recordAudit(tx, { ...entry, chain: organizationId, at: now, by: starter });
    const [usable] = await tx.tenants.usable(organizationId, 1);
    const tenant = usable ?? newTenant(ids, organizationId, now);
    if (usable === undefined) {
      await tx.tenants.insert(tenant);
      await note({ action: 'tenant.create', object: tenant.id });
    }
    const client = openClient(
      {
        id: clientId(ids.next(idPrefixes.client)),
        organizationId,
        oauthClientId: ids.next(oauthClientPrefix),
        name: 'Quickstart',
        description: 'Made by the first start of the development server',
        permissions: { profile: 'invoke' },
        createdBy: ownerId,
      },
      now,
    );
    await tx.clients.insert(client);
    const { secret } = await issueCredential({ clock, secrets }, tx, {
      client,
      label: firstLabel,
      lifetimeDays: limits.credentialDaysMax,
      id: credentialId(ids.next(idPrefixes.credential)),
    });
    await note({ action: 'client.create', object: client.id });
    return {
      base_url: '',
      organization_id: organizationId,
      tenant_id: tenant.id,
      owner_email: quickstartOwner,
      owner_token: '',
      client_id: client.oauthClientId,
      client_secret: secret,
    };
  });
}

/**
 * Opens a tenant and takes all its provisioning steps at once: the session folders and the file store of a
 * development server are made on first use.
 */
function newTenant(ids: Ids, organizationId: OrganizationId, now: number): Tenant {
  const id = tenantId(ids.next(idPrefixes.tenant));
  const tenant = openTenant({ id, organizationId, displayName: 'Quickstart', mode: 'saas' }, now);
  return provisioningSteps.reduce((current, step) => provisioned(current, step, now), tenant);
}

async function ensureOrganization(
  services: Pick<Services, 'clock' | 'ids'>,
  tx: StoreTransaction,
): Promise<{ organizationId: OrganizationId; ownerId: UserId }> {
  const owner = await tx.organizations.findUserByEmail(quickstartOwner);
  const [membership] = owner === undefined ? [] : await tx.organizations.membershipsOf(owner.id);
  if (owner !== undefined && membership !== undefined) {
    return { organizationId: membership.organizationId, ownerId: owner.id };
  }
  const { id } = await openOrganization(services, tx, { name: 'Quickstart', by: starter });
  const { user } = await joinOrganization(services, tx, {
    organizationId: id,
    email: quickstartOwner,
    role: 'owner',
    by: starter,
  });
  return { organizationId: id, ownerId: user.id };
}

async function readQuickstart(dataDir: string): Promise<Quickstart | undefined> {
  try {
    const parsed = quickstart.safeParse(
      JSON.parse(await readFile(join(dataDir, 'quickstart.json'), 'utf8')),
    );
    return parsed.success ? parsed.data : undefined;
  } catch {
    // Absent or not JSON: it is written again.
    return undefined;
  }
}

async function writeQuickstart(dataDir: string, value: Quickstart): Promise<void> {
  const path = join(dataDir, 'quickstart.json');
  const draft = `${path}.new`;
  const file = await open(draft, 'w', 0o600);
  try {
    await file.writeFile(`${JSON.stringify(value, null, 2)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, path);
}
