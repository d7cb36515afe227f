import type {
  AuditChain,
  AuditRow,
  ChainCheck,
  ChainHead,
  SealedHead,
} from '../../domain/audit.ts';
import type { PageRequest } from '../page.ts';

export interface AuditFilter {
  readonly action?: string | undefined;
  readonly actorId?: string | undefined;
  readonly object?: string | undefined;
  readonly outcome?: AuditRow['outcome'] | undefined;
  /** Milliseconds, inclusive. */
  readonly from?: number | undefined;
  /** Milliseconds, exclusive. */
  readonly to?: number | undefined;
}

/** Rows with a number above `above` and below `below`. */
export interface SeqRange {
  readonly above: number;
  readonly below: number;
}

export interface AuditRepository {
  /** Starts the chain of a new organization with a sealed head. */
  open(chain: AuditChain): Promise<void>;
  /** Locks the head of the chain until the transaction ends, so that two writers cannot append to the same row. */
  lockHead(chain: AuditChain): Promise<ChainHead>;
  /**
   * Appends the row after the locked head and makes it the head. Seals the new head if the seal of the old one was
   * valid: an append must not hide that the end of the chain was changed.
   */
  append(row: AuditRow): Promise<void>;
  head(chain: AuditChain): Promise<SealedHead | undefined>;
  /** Seals the locked head as it is. */
  seal(head: ChainHead): Promise<void>;
  /** Every organization, and every chain that has a head or rows, in order, after `after`. */
  chains(after: string, limit: number): Promise<AuditChain[]>;
  /** Rows after `seq`, in order. */
  rows(chain: AuditChain, after: number, limit: number): Promise<AuditRow[]>;
  /** The newest rows, of one chain or of all, newest first. */
  newest(chain: AuditChain | undefined, limit: number): Promise<AuditRow[]>;
  /** The rows of the range that pass the filter, in order. */
  search(
    chain: AuditChain,
    filter: AuditFilter,
    within: SeqRange & Pick<PageRequest, 'limit' | 'order'>,
  ): Promise<AuditRow[]>;
  check(chain: AuditChain): Promise<ChainCheck | undefined>;
  /**
   * Chains with rows after their last check, and chains whose walk began before `allBefore`, or is wrong and before
   * `wrongBefore`.
   */
  toCheck(
    due: { readonly allBefore: number; readonly wrongBefore: number },
    limit: number,
  ): Promise<AuditChain[]>;
  /** Writes the check if the stored one is still at `seen`; false otherwise. */
  saveCheck(check: ChainCheck, seen: ChainCheck | undefined): Promise<boolean>;
  /** The highest row number of the chain, independent of its head; 0 when it has no row. */
  lastSeq(chain: AuditChain): Promise<number>;
}
