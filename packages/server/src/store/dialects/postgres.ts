import { setTimeout } from 'node:timers/promises';
import { Pool, TypeOverrides, types } from 'pg';
import { StorageUnavailable } from '../../ports/errors.ts';
import type { Report } from '../effects.ts';
import type { MigratableDatabase } from '../migrate.ts';
import type { Connections, Statement } from '../sql-database.ts';
import { type WireQuery, type WireResult, sendBatch } from './postgres-batch.ts';
import { isConnectionLost, isStalePlan, toStoreError } from './postgres-errors.ts';
import { PreparedQueries } from './postgres-prepared.ts';
import { PostgresTransaction } from './postgres-transaction.ts';
import { RowSecurity } from './row-security.ts';

const defaultPoolSize = 10;
const waitingMax = 10_000;
/** How long a caller waits at most for a connection or an answer (D-321). */
const connectTimeoutMs = 5_000;
const answerTimeoutMs = 5_000;
/** Shorter than the answer timeout: the server cancels the statement first, so that the connection survives. */
const statementTimeoutMs = 4_000;
const idleInTransactionMs = 10_000;
/** Retries after a deadlock or a serialisation failure. */
const retriesMax = 3;
const retryDelayMs = 20;

interface PostgresOptions {
  url: string;
  report: Report;
  /** Called once for each problem that an operator should fix but that does not stop the server. */
  warn?: (message: string) => void;
  poolSize?: number;
}

/** Opens a connection pool. Throws if the server is not a primary that makes acknowledged commits durable. */
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
  // Without an error listener on the pool and on each client, a lost connection would end the process.
  pool.on('error', () => {});
  pool.on('connect', (client) => {
    client.on('error', (error) => options.report('PostgreSQL connection lost', error));
  });
  try {
    await refuseUnsafeServer(pool);
    await warnAboutUnboundRole(pool, options.warn ?? (() => {}));
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
        const begin = this.#rowSecurity.begin(client);
        const tx = new PostgresTransaction(client, {
          begin,
          prepared: this.#prepared,
          types: wireTypes,
        });
        try {
          const result = await work(tx);
          await tx.commit();
          tx.announce(this.#report);
          return result;
        } catch (error) {
          await tx.rollback();
          if (!tx.isRetryable || retries === retriesMax) throw error;
        }
        // A random pause, so that two transactions that deadlocked do not meet again.
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

  async #read(statement: Statement): Promise<WireResult> {
    try {
      return await this.#query(this.#prepared.query(statement));
    } catch (error) {
      if (!isStalePlan(error)) throw toStoreError(error);
      this.#prepared.renew();
      return this.#query(this.#prepared.query(statement)).catch(rethrowAsStoreError);
    }
  }

  async #query(query: WireQuery): Promise<WireResult> {
    const client = await this.#pool.connect();
    let isLost = false;
    try {
      const { queries, isSet } = this.#rowSecurity.before(client);
      const results = await sendBatch(client, [...queries, query], wireTypes);
      isSet();
      const result = results.at(-1);
      if (result === undefined) throw new Error('PostgreSQL answered without a result');
      return result;
    } catch (error) {
      isLost = isConnectionLost(error);
      throw error;
    } finally {
      client.release(isLost);
    }
  }

  /** Counts the callers, so that `close` waits for them: a closed pool leaves waiting callers hanging. */
  async #use<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closed !== undefined) throw new StorageUnavailable('the database is closed');
    if (this.#pool.waitingCount >= waitingMax) {
      throw new StorageUnavailable(`${waitingMax} callers are already waiting for PostgreSQL`);
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

const wireTypes = numbersAsNumbers();

/** Parses int8 and numeric as numbers, not text: counts, sums and times are safe integers. */
export function numbersAsNumbers(): TypeOverrides {
  const overrides = new TypeOverrides();
  overrides.setTypeParser(types.builtins.INT8, Number);
  overrides.setTypeParser(types.builtins.NUMERIC, Number);
  return overrides;
}

/** Row-level security does not apply to superusers and roles with `bypassrls`. */
export const unboundRoleQuery =
  'select rolname as role from pg_roles where rolname = current_user and (rolsuper or rolbypassrls)';

async function warnAboutUnboundRole(pool: Pool, warn: (message: string) => void): Promise<void> {
  const { rows } = await pool.query<{ role: string }>(unboundRoleQuery).catch(rethrowAsStoreError);
  const [unbound] = rows;
  if (unbound === undefined) return;
  warn(
    `row-level security does not apply to the PostgreSQL role ${unbound.role}: connect as a plain role that owns the database`,
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

/** Refuses a server that may lose acknowledged commits or that may lag. */
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
  if (server === undefined) return refuse('its settings cannot be read');
  if (!server.recent) refuse(`version ${server.version} is older than 15`);
  if (server.encoding !== 'UTF8') refuse(`the encoding is ${server.encoding}, not UTF8`);
  if (server.fsync === 'off') refuse('fsync is off, so a power cut loses data; turn it on');
  if (server.synchronous_commit === 'off') {
    refuse('synchronous_commit is off, so a crash loses acknowledged commits; turn it on');
  }
  if (server.standby) refuse('it is a standby; give the address of the primary');
}
