import type { OrganizationId, OrganizationRule } from '@convoke/contract';

/** The rules of an organization about tool calls: one document, replaced as a whole. */
export interface StoredRules {
  /** Counts the changes, from 1. */
  readonly version: number;
  /** As they were sent. */
  readonly rules: readonly OrganizationRule[];
  readonly updatedBy: string;
  readonly updatedAt: number;
}

export interface OrganizationRuleRepository {
  /** 0 before the first document. */
  version(organizationId: OrganizationId): Promise<number>;
  find(organizationId: OrganizationId): Promise<StoredRules | undefined>;
  /** Writes the document as the next version behind `seen`. False, and no change, when that is no longer the version. */
  replace(
    organizationId: OrganizationId,
    document: Omit<StoredRules, 'version'>,
    seen: number,
  ): Promise<boolean>;
}
