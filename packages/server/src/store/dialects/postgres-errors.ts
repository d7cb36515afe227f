import { DatabaseError } from 'pg';
import { StorageUnavailable } from '../../ports/errors.ts';
import { UniqueViolation } from '../sql-database.ts';

/**
 * SQLSTATE classes and codes for problems of the server rather than the statement: connection, login, missing
 * database, resources, shutdown, timeouts, a primary that became a standby, input/output.
 */
const unavailableCodes = /^(08|28|3D|53|57P|58|57014|55P03|25P03|25006|40001|40P01)/;
const uniqueViolation = '23505';
const serializationFailure = '40001';
const deadlockDetected = '40P01';

/** Converts to `StorageUnavailable` or `UniqueViolation`; other errors are faults and stay as they are. */
export function toStoreError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof StorageUnavailable) return error;
  if (error instanceof DatabaseError) {
    if (error.code === uniqueViolation) {
      return new UniqueViolation(error.message, { constraint: error.constraint, cause: error });
    }
    if (!unavailableCodes.test(error.code ?? '') && !isStalePlan(error)) return error;
  } else if (error instanceof TypeError) {
    return error;
  }
  return new StorageUnavailable(`PostgreSQL: ${error.message}`, { cause: error });
}

/**
 * Another replica has migrated a table that a prepared `select *` reads: the statement must be prepared again.
 * Recognised by the routine because messages are in the language of the server.
 */
export function isStalePlan(error: unknown): boolean {
  return error instanceof DatabaseError && error.routine === 'RevalidateCachedQuery';
}

/** Whether the server certainly rolled the transaction back and a retry may succeed. */
export function isRetryable(error: unknown): boolean {
  if (!(error instanceof DatabaseError)) return false;
  if (error.code === serializationFailure || error.code === deadlockDetected) return true;
  return isStalePlan(error);
}

/** Whether the connection can still be used after this error. */
export function isConnectionLost(error: unknown): boolean {
  if (!(error instanceof DatabaseError)) return !(error instanceof TypeError);
  return error.severity === 'FATAL' || error.severity === 'PANIC';
}
