import type { Labels, RunId, SessionId, TenantId } from '@convoke/contract';

/** The kinds of resources that have labels. */
export interface LabelOwner {
  readonly tenantId: TenantId;
  readonly id: RunId | SessionId;
}

/** The rows by which lists find labels. Runs and sessions have their own copy. */
export interface LabelRepository {
  /** Adds the labels of something new. */
  insert(owner: LabelOwner, labels: Labels): void;
  /** Replaces the labels. */
  replace(owner: LabelOwner, labels: Labels): Promise<void>;
}
