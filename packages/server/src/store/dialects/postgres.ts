import { setTimeout } from 'node:timers/promises';
import { Pool, TypeOverrides, types, type QueryConfig, type QueryResult } from 'pg';
import type { Report } from '../effects.ts';
import type { MigratableDatabase } from '../migrate.ts';
import type { Connections, Statement } from '../sql-database.ts';
import { StorageUnavailable } from '../../ports/errors.ts';
import { isConnectionLost, isStalePlan, toStoreError } from './postgres-errors.ts';
import { PreparedQueries } from './postgres-prepared.ts';
import { PostgresTransaction } from './postgres-transaction.ts';
import { RowSecurity } from './row-security.ts';

const defaultPoolSize = 10;
const waitingMax = 10_000;
/** No caller waits longer than this for a connection or an answer (reliability P13). */
const connectTimeoutMs = 5_000;
const answerTimeoutMs = 5_000;
/** The server gives up first, so that the connection survives. */
const statementTimeoutMs = 4_000;
const idleInTransactionMs = 10_000;
/** A deadlock or a serialisation failure is tried again this often. */
const retriesMax = 3;
const retryDelayMs = 20;

interface PostgresOptions {
  url: string;
  report: Report;
  /** Told once of what works but should not stay so. */
  warn?: (message: string) => void;
  poolSize?: number;
}

/** Opens a pool on a primary that keeps what it acknowledges, or says why it will not. */
export async function openPostgres(options: PostgresOptions): Promise<MigratableDatabase> {
  const pool = new Pool({
    connectionString: options.url,
    application_name: 'convoke',
    max: options.poolSize ?? defaultPoolSize,
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: answerTimeoutMs,
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: idleInTransactionMs,
    keepAlive: true,
    types: numbersAsNumbers(),
  });
  // Without a listener on the pool and on each client a lost connection would end the process.
  pool.on('error', () => {});
  pool.on('connect', (client) => {
    client.on('error', (error) => options.report('a PostgreSQL connection was lost', error));
  });
  try {
    await refuseUnsafeServer(pool);
    await warnOfUnboundRole(pool, options.warn ?? (() => {}));
  } catch (error) {
    await pool.end();
    throw error;
  }
  return new PostgresDatabase(pool, options.report);
}

class PostgresDatabase implements MigratableDatabase {
  readonly dialect = 'postgres';
  readonly #pool: Pool;
  readonly #report: Report;
  readonly #prepared = new PreparedQueries();
  readonly #rowSecurity = new RowSecurity();
  #inUse = 0;
  #unused: (() => void) | undefined;
  #closed: Promise<void> | undefined;

  constructor(pool: Pool, report: Report) {
    this.#pool = pool;
    this.#report = report;
  }

  async all<Row>(statement: Statement): Promise<Row[]> {
    const { rows } = await this.#use(() => this.#read(statement));
    return rows as Row[];
  }

  async get<Row>(statement: Statement): Promise<Row | undefined> {
    const [row] = await this.all<Row>(statement);
    return row;
  }

  inTenantScope<T>(tenantId: string, work: () => T): T {
    return this.#rowSecurity.run(tenantId, work);
  }

  async transaction<T>(work: (tx: PostgresTransaction) => Promise<T>): Promise<T> {
    return this.#use(async () => {
      for (let retries = 0; ; retries++) {
        const client = await this.#pool.connect().catch(rethrowAsStoreError);
        const tx = new PostgresTransaction(client, this.#prepared);
        try {
          await tx.begin(this.#rowSecurity.beginSql(client));
          const result = await work(tx);
          await tx.commit();
          tx.announce(this.#report);
          return result;
        } catch (error) {
          await tx.rollback();
          if (!tx.mayBeTriedAgain || retries === retriesMax) throw error;
        }
        // Two that met in a deadlock must not meet again at once.
        await setTimeout(Math.random() * retryDelayMs * (retries + 1));
      }
    });
  }

  connections(): Connections {
    const { totalCount, idleCount, waitingCount } = this.#pool;
    return { inUse: totalCount - idleCount, idle: idleCount, waiting: waitingCount };
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    if (this.#inUse > 0) {
      await new Promise<void>((resolve) => {
        this.#unused = resolve;
      });
    }
    await this.#pool.end();
  }

  async #read(statement: Statement): Promise<QueryResult> {
    try {
      return await this.#query(this.#prepared.query(statement));
    } catch (error) {
      if (!isStalePlan(error)) throw toStoreError(error);
      this.#prepared.renew();
      return this.#query(this.#prepared.query(statement)).catch(rethrowAsStoreError);
    }
  }

  async #query(query: QueryConfig): Promise<QueryResult> {
    const client = await this.#pool.connect();
    let isLost = false;
    try {
      await this.#rowSecurity.apply(client);
      return await client.query(query);
    } catch (error) {
      isLost = isConnectionLost(error);
      throw error;
    } finally {
      client.release(isLost);
    }
  }

  /** Everything passes here: a closing pool would let those that wait for a connection hang. */
  async #use<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closed !== undefined) throw new StorageUnavailable('the database is closed');
    if (this.#pool.waitingCount >= waitingMax) {
      throw new StorageUnavailable(`${waitingMax} callers wait for PostgreSQL already`);
    }
    this.#inUse++;
    try {
      return await work();
    } finally {
      this.#inUse--;
      if (this.#inUse === 0) this.#unused?.();
    }
  }
}

function rethrowAsStoreError(error: unknown): never {
  throw toStoreError(error);
}

/** Counts, sums and times are integers that JavaScript can hold; text would surprise every reader. */
export function numbersAsNumbers(): TypeOverrides {
  const overrides = new TypeOverrides();
  overrides.setTypeParser(types.builtins.INT8, Number);
  overrides.setTypeParser(types.builtins.NUMERIC, Number);
  return overrides;
}

/** PostgreSQL asks superusers, and roles with `bypassrls`, for no policy. */
export const unboundRoleQuestion =
  'select rolname as role from pg_roles where rolname = current_user and (rolsuper or rolbypassrls)';

async function warnOfUnboundRole(pool: Pool, warn: (message: string) => void): Promise<void> {
  const { rows } = await pool
    .query<{ role: string }>(unboundRoleQuestion)
    .catch(rethrowAsStoreError);
  const [unbound] = rows;
  if (unbound === undefined) return;
  warn(
    `row-level security is not in force for the PostgreSQL role ${unbound.role}: connect as a plain role that owns the database`,
  );
}

interface ServerSettings {
  recent: boolean;
  version: string;
  encoding: string;
  fsync: string;
  synchronous_commit: string;
  standby: boolean;
}

/** A server that may forget what it acknowledged, or that may lag, cannot carry the promises. */
async function refuseUnsafeServer(pool: Pool): Promise<void> {
  const { rows } = await pool
    .query<ServerSettings>(`
    select current_setting('server_version_num')::int >= 150000 as recent,
      current_setting('server_version') as version,
      current_setting('server_encoding') as encoding,
      current_setting('fsync') as fsync,
      current_setting('synchronous_commit') as synchronous_commit,
      pg_is_in_recovery() as standby`)
    .catch(rethrowAsStoreError);
  const server = rows[0];
  const refuse = (reason: string): never => {
    throw new Error(`PostgreSQL cannot be used: ${reason}`);
  };
  if (server === undefined) return refuse('it does not tell its settings');
  if (!server.recent) refuse(`version ${server.version} is older than 15`);
  if (server.encoding !== 'UTF8') refuse(`the encoding is ${server.encoding}, not UTF8`);
  if (server.fsync === 'off') refuse('fsync is off, so a power cut loses data; turn it on');
  if (server.synchronous_commit === 'off') {
    refuse('synchronous_commit is off, so a crash loses acknowledged commits; turn it on');
  }
  if (server.standby) refuse('it is a standby; give the address of the primary');
}
