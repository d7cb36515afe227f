import type { AuditChain, AuditRow, ChainHead } from '../../domain/audit.ts';

export interface AuditRepository {
  /** The end of the chain, held until the transaction ends, so that two writers cannot both build on it. */
  lockHead(chain: AuditChain): Promise<ChainHead>;
  /** Adds the row after the locked head, and makes it the head. */
  append(row: AuditRow): Promise<void>;
  head(chain: AuditChain): Promise<ChainHead | undefined>;
  /** Every chain that has a head or rows, in order, after `after`. */
  chains(after: string, limit: number): Promise<AuditChain[]>;
  /** Rows after `seq`, in order. */
  rows(chain: AuditChain, after: number, limit: number): Promise<AuditRow[]>;
  /** The newest rows, of one chain or of all, newest first. */
  newest(chain: AuditChain | undefined, limit: number): Promise<AuditRow[]>;
  /** The highest number in the chain, whatever its head says; 0 when it has no row. */
  lastSeq(chain: AuditChain): Promise<number>;
}
