import { DatabaseError } from 'pg';
import { UniqueViolation } from '../sql-database.ts';
import { StorageUnavailable } from '../../ports/errors.ts';

/**
 * SQLSTATE classes and codes that speak of the server and not of the statement: connection, login,
 * no such database, resources, shutdown, timeouts, a primary that became a standby, input/output.
 */
const unavailableCodes = /^(08|28|3D|53|57P|58|57014|55P03|25P03|25006|40001|40P01)/;
const uniqueViolation = '23505';
const serializationFailure = '40001';
const deadlockDetected = '40P01';

/** Gives the error in the port's words; a fault of the statement or of our code stays as it is. */
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
 * Another replica has migrated a table that a prepared `select *` reads: the statement must be
 * prepared anew. The routine is named because messages come in the server's language.
 */
export function isStalePlan(error: unknown): boolean {
  return error instanceof DatabaseError && error.routine === 'RevalidateCachedQuery';
}

/** The server has surely undone the transaction, and the same work may well succeed now. */
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
