import { hash } from 'node:crypto';
import { type OrganizationId, type OrganizationRule, tenantId, userId } from '@convoke/contract';
import type { Actor } from '../../domain/audit.ts';
import {
  type RuleDocument,
  areSameRules,
  changesOf,
  namesOwners,
  rulesText,
} from '../../domain/rules/document.ts';
import { readRules } from '../../domain/rules/rule.ts';
import { type RuleWarning, warningsOf } from '../../domain/rules/warnings.ts';
import type { Repositories, StoreTransaction } from '../../ports/store.ts';
import { recordAudit } from '../audit.ts';
import { refuse } from '../refusal.ts';
import type { Services } from '../services.ts';
import { type PeopleKnown, ruledWorld } from './ruled-world.ts';

/** The rules of an organization, and what should be known about them. */
export interface JudgedRules {
  /** Absent before the first document. */
  readonly document: RuleDocument | undefined;
  readonly warnings: readonly RuleWarning[];
}

type RuleBodies = RuleDocument['rules'];
type RuleServices = Pick<Services, 'store' | 'agents'> & PeopleKnown;

export async function getRules(
  services: RuleServices,
  organizationId: OrganizationId,
): Promise<JudgedRules> {
  const { read } = services.store;
  return judgeRules(services, read, {
    organizationId,
    document: await read.rules.find(organizationId),
  });
}

export interface SetRules {
  readonly rules: readonly OrganizationRule[];
  /** The version that the caller read before; 0 for the first document. */
  readonly version: number;
  readonly manager: { readonly role: 'owner' | 'admin' };
  readonly by: Actor;
}

/** D-527. Locks the organization's row: of two that replace the same version at once, one is refused. */
export async function setRules(
  services: RuleServices & Pick<Services, 'clock'>,
  organizationId: OrganizationId,
  request: SetRules,
): Promise<JudgedRules> {
  return services.store.transaction(async (tx) => {
    await tx.organizations.lock(organizationId);
    const seen = await tx.rules.find(organizationId);
    const { rules, version, manager, by } = request;
    const before = seen?.rules ?? [];
    if (manager.role !== 'owner' && (namesOwners(before) || namesOwners(rules))) {
      return refuse('forbidden', { message: ownersOnly });
    }
    if (areSameRules(before, rules)) {
      return judgeRules(services, tx, { organizationId, document: seen });
    }
    const current = seen?.version ?? 0;
    if (version !== current) {
      return refuse('version_conflict', { message: `The rules have version ${current} now.` });
    }
    await requireTenants(tx, organizationId, { before, rules });
    const at = services.clock.now();
    const document = {
      organizationId,
      version: current + 1,
      rules,
      updatedBy: userId(by.id),
      updatedAt: at,
    };
    if (!(await tx.rules.save(document))) return refuse('version_conflict');
    const answer = await judgeRules(services, tx, { organizationId, document });
    await recordAudit(tx, {
      chain: organizationId,
      at,
      by,
      action: 'rules.update',
      object: organizationId,
      details: {
        version: document.version,
        sha256: sha256Of(rules),
        ...changesOf(before, rules),
      },
    });
    return answer;
  });
}

const ownersOnly = 'A rule names owners as approvers, so only an owner replaces the rules.';

/** Which bytes were meant, for people who keep their rules in files. */
function sha256Of(rules: RuleBodies): string {
  return hash('sha256', rulesText(rules));
}

/**
 * Refuses a tenant that the organization does not have: the rule would never match. One that was named before may have
 * been offboarded since, which must not stand in the way of another rule (D-768).
 */
export async function requireTenants(
  { tenants }: Pick<StoreTransaction, 'tenants'>,
  organizationId: OrganizationId,
  { before, rules }: { readonly before: RuleBodies; readonly rules: RuleBodies },
): Promise<void> {
  const known = new Set(tenantsIn(before));
  const added = new Set(tenantsIn(rules).filter((tenant) => !known.has(tenant)));
  if (added.size === 0) return;
  const own = await tenants.bindable(organizationId, [...added].map(tenantId));
  for (const tenant of own) known.add(tenant);
  for (const [index, rule] of rules.entries()) {
    const place = rule.tenants?.findIndex((tenant) => !known.has(tenant)) ?? -1;
    if (place === -1) continue;
    const message = `rules[${index}].tenants[${place}]: the organization has no tenant ${rule.tenants?.[place] ?? ''}.`;
    refuse('invalid_body', { message });
  }
}

function tenantsIn(rules: RuleBodies): readonly string[] {
  return rules.flatMap((rule) => rule.tenants ?? []);
}

async function judgeRules(
  services: Pick<Services, 'agents'> & PeopleKnown,
  repositories: Pick<Repositories, 'organizations' | 'tenants'>,
  {
    organizationId,
    document,
  }: Pick<RuleDocument, 'organizationId'> & Pick<JudgedRules, 'document'>,
): Promise<JudgedRules> {
  if (document === undefined || document.rules.length === 0) return { document, warnings: [] };
  const world = await ruledWorld(services, repositories, organizationId);
  return { document, warnings: warningsOf(readRules(document.rules), world) };
}
