/** A row of an export: the value types that both databases have in common. */
export type TransferRow = readonly (string | number | null)[];

export interface TransferTable {
  readonly name: string;
  readonly columns: readonly string[];
}

/**
 * One connection in one transaction for the whole transfer. A read sees the database as it was at the start, even
 * while servers write; a write is kept completely or not at all.
 */
export interface TransferConnection {
  /** The tables of the deployment, each after the ones it refers to. */
  tables(): Promise<TransferTable[]>;
  rows(table: TransferTable): AsyncIterable<TransferRow>;
  count(table: TransferTable): Promise<number>;
  insert(table: TransferTable, rows: readonly TransferRow[]): Promise<void>;
  commit(): Promise<void>;
  /** Closes the connection; a transaction that was not committed is rolled back. */
  close(): Promise<void>;
}

export type TransferMode = 'read' | 'write';
