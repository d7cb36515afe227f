import type { AuditChain, AuditRow, ChainHead, SealedHead } from '../../domain/audit.ts';

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
  /** The highest row number of the chain, independent of its head; 0 when it has no row. */
  lastSeq(chain: AuditChain): Promise<number>;
}
