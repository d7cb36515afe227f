import type { OrganizationId } from '@convoke/contract';
import { type RuleList, readRules } from '../domain/rules/rule.ts';
import type { OrganizationRuleRepository } from '../ports/repositories/organization-rules.ts';
import { BoundedMap } from '../runtime/bounded-map.ts';

const organizationsMax = 1000;

/** The document of an organization, read once for many calls. */
export interface OrganizationRules {
  readonly version: number;
  readonly rules: RuleList;
}

const none: OrganizationRules = { version: 0, rules: [] };

/**
 * The rules of organizations as this server has read them last. A decision counts only if its version is still the one
 * of the database in the transaction that writes it (D-506).
 */
export class RuleBook {
  readonly #known = new BoundedMap<OrganizationId, OrganizationRules>(organizationsMax);

  /** Without a look at the database. */
  known(organization: OrganizationId): OrganizationRules {
    return this.#known.get(organization) ?? none;
  }

  /** As they are now: one read of the version, and one of the document if that is another one. */
  async current(
    stored: OrganizationRuleRepository,
    organization: OrganizationId,
  ): Promise<OrganizationRules> {
    const known = this.known(organization);
    const version = await stored.version(organization);
    return version === known.version ? known : this.load(stored, organization);
  }

  async load(
    stored: OrganizationRuleRepository,
    organization: OrganizationId,
  ): Promise<OrganizationRules> {
    const found = await stored.find(organization);
    const rules =
      found === undefined ? none : { version: found.version, rules: readRules(found.rules) };
    this.#known.set(organization, rules);
    return rules;
  }
}
