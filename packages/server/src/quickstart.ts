import { open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type OrganizationId,
  type UserId,
  clientId,
  credentialId,
  idPrefixes,
  limits,
  scopesOf,
  tenantId,
} from '@convoke/contract';
import { z } from 'zod';
import { recordAudit } from './app/audit.ts';
import { joinOrganization, openOrganization } from './app/organizations.ts';
import type { Services } from './app/services.ts';
import { issuePersonToken } from './auth/person-tokens.ts';
import type { Tokens } from './auth/tokens.ts';
import type { Actor, AuditEntry } from './domain/audit.ts';
import type { Client } from './domain/client.ts';
import type { Secrets } from './ports/secrets.ts';
import type { StoreTransaction } from './ports/store.ts';

/** What a newcomer needs to make the first call; kept in the data folder, readable by its owner only. */
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

const ownerEmail = 'owner@convoke.local';
/** Long enough for an evening of trying; every start of the development server makes a new one. */
const ownerTokenSeconds = 12 * 3600;
const dayMs = 24 * 3600 * 1000;

/** Whoever starts the development server. */
const starter: Actor = { kind: 'operator', id: 'convoke dev', requestId: null, address: null };

/**
 * The first start makes an organization, a usable tenant, an owner and an automation client. Later starts
 * renew the owner's token; a secret that was lost with the file is replaced, since nothing can read it back.
 */
export async function ensureQuickstart(parts: QuickstartParts): Promise<Quickstart> {
  const { services, tokens, dataDir, baseUrl } = parts;
  const known = await readQuickstart(dataDir);
  const isCurrent =
    known !== undefined &&
    (await services.store.read.clients.findByOAuthId(known.client_id)) !== undefined;
  const made = isCurrent ? known : await makeQuickstart(parts);
  const owner = await services.store.read.organizations.findUserByEmail(made.owner_email);
  if (owner === undefined) throw new Error(`${made.owner_email} is not in the database any more`);
  const request = { userId: owner.id, lifetimeSeconds: ownerTokenSeconds, by: starter };
  const { token } = await issuePersonToken({ ...services, tokens }, request);
  const current = { ...made, base_url: baseUrl, owner_token: token };
  await writeQuickstart(dataDir, current);
  return current;
}

async function makeQuickstart({ services, secrets }: QuickstartParts): Promise<Quickstart> {
  const { store, clock, ids } = services;
  const now = clock.now();
  const issued = secrets.issue();
  return store.transaction(async (tx) => {
    const owned = await ensureOrganization(services, tx);
    const note = (entry: Pick<AuditEntry, 'action' | 'object'>) =>
      recordAudit(tx, { ...entry, chain: owned.organizationId, at: now, by: starter });
    const tenant = {
      id: tenantId(ids.next(idPrefixes.tenant)),
      organizationId: owned.organizationId,
      displayName: 'Quickstart',
      mode: 'saas',
      status: 'active',
      attachmentState: 'ready',
      statusReason: null,
      step: null,
      createdAt: now,
      updatedAt: now,
    } as const;
    const [usable] = await tx.tenants.usable(owned.organizationId, 1);
    if (usable === undefined) {
      await tx.tenants.insert(tenant);
      await note({ action: 'tenant.create', object: tenant.id });
    }
    const client: Client = {
      id: clientId(ids.next(idPrefixes.client)),
      organizationId: owned.organizationId,
      oauthClientId: ids.next('oac'),
      name: 'Quickstart',
      description: 'Made by the first start of the development server',
      profile: 'invoke',
      scopes: scopesOf('invoke'),
      status: 'active',
      version: 1,
      createdBy: owned.ownerId,
      createdAt: now,
      updatedAt: now,
      deletedAt: null,
    };
    await tx.clients.insert(client);
    await tx.credentials.insert({
      id: credentialId(ids.next(idPrefixes.credential)),
      clientId: client.id,
      label: 'default',
      secretHmac: issued.hmac,
      secretHint: issued.hint,
      createdAt: now,
      expiresAt: now + limits.credentialDaysMax * dayMs,
      revokedAt: null,
      lastUsedAt: null,
    });
    await note({ action: 'client.create', object: client.id });
    return {
      base_url: '',
      organization_id: owned.organizationId,
      tenant_id: (usable ?? tenant).id,
      owner_email: ownerEmail,
      owner_token: '',
      client_id: client.oauthClientId,
      client_secret: issued.secret,
    };
  });
}

async function ensureOrganization(
  services: Pick<Services, 'clock' | 'ids'>,
  tx: StoreTransaction,
): Promise<{ organizationId: OrganizationId; ownerId: UserId }> {
  const owner = await tx.organizations.findUserByEmail(ownerEmail);
  const [membership] = owner === undefined ? [] : await tx.organizations.membershipsOf(owner.id);
  if (owner !== undefined && membership !== undefined) {
    return { organizationId: membership.organizationId, ownerId: owner.id };
  }
  const { id } = await openOrganization(services, tx, { name: 'Quickstart', by: starter });
  const { user } = await joinOrganization(services, tx, {
    organizationId: id,
    email: ownerEmail,
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
    // Absent or not JSON: either way it is made anew.
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
