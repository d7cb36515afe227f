import type { OrganizationId } from '@convoke/contract';
import type { RuleDocument } from '../../domain/rules/document.ts';

/** The rules of organizations about tool calls: at most one document each. */
export interface RuleRepository {
  /** The version of the document; 0 before the first. */
  version(organizationId: OrganizationId): Promise<number>;
  find(organizationId: OrganizationId): Promise<RuleDocument | undefined>;
  /** Stores the document in the place of the version before it. False when that is no longer the current one. */
  save(document: RuleDocument): Promise<boolean>;
}
