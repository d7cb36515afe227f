/** A row as it travels: what the two databases have in common. */
export type TransferRow = readonly (string | number | null)[];

export interface TransferTable {
  readonly name: string;
  readonly columns: readonly string[];
}

/**
 * One connection in one transaction, for as long as all rows take. Read, it sees the database as it was when
 * it began, whatever servers do meanwhile; written, all of it is kept or nothing.
 */
export interface TransferConnection {
  /** Those with rows of the deployment, each after the ones it refers to. */
  tables(): Promise<TransferTable[]>;
  rows(table: TransferTable): AsyncIterable<TransferRow>;
  count(table: TransferTable): Promise<number>;
  insert(table: TransferTable, rows: readonly TransferRow[]): Promise<void>;
  commit(): Promise<void>;
  /** Ends the transaction, if it was not committed with nothing kept, and the connection. */
  close(): Promise<void>;
}

export type TransferMode = 'read' | 'write';
