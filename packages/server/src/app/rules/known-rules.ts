import type { OrganizationId } from '@convoke/contract';
import { type RuleList, readRules } from '../../domain/rules/rule.ts';
import type { Repositories } from '../../ports/store.ts';
import { BoundedMap } from '../../runtime/bounded-map.ts';

/** The rules of an organization, ready to decide with. */
export interface VersionedRules {
  readonly version: number;
  readonly list: RuleList;
}

const none: VersionedRules = { version: 0, list: [] };
const knownMost = 1_000;

/**
 * The rules of organizations as this server last read them. What is known may have been replaced since: a transaction
 * that decides by it compares its version, and reads the document again where that is another one (D-506).
 */
export class KnownRules {
  readonly #known = new BoundedMap<OrganizationId, VersionedRules>(knownMost);

  /** Without reading the database; empty before the first read. */
  get(organizationId: OrganizationId): VersionedRules {
    return this.#known.get(organizationId) ?? none;
  }

  /** As they are now: one read of the version, and one of the document where that is another one. */
  async current(
    { rules }: Pick<Repositories, 'rules'>,
    organizationId: OrganizationId,
  ): Promise<VersionedRules> {
    const known = this.get(organizationId);
    const version = await rules.version(organizationId);
    return version === known.version ? known : this.read({ rules }, organizationId);
  }

  async read(
    { rules }: Pick<Repositories, 'rules'>,
    organizationId: OrganizationId,
  ): Promise<VersionedRules> {
    const document = await rules.find(organizationId);
    const read =
      document === undefined
        ? none
        : { version: document.version, list: readRules(document.rules) };
    this.#known.set(organizationId, read);
    return read;
  }
}
