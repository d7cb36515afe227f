import type { Connection, ConnectionSecret } from '../../domain/connections/connection.ts';

/** Seals the secrets of connections, so that a copy of the database has none of them (D-593). */
export interface ConnectionSecrets {
  seal(of: Pick<Connection, 'id' | 'version'>, secret: ConnectionSecret): string;
  /** Undefined when it was sealed with another key, or for another connection or version. */
  open(connection: Pick<Connection, 'id' | 'version' | 'sealed'>): ConnectionSecret | undefined;
}
