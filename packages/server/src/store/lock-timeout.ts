import { StorageUnavailable } from '../ports/errors.ts';
import { hasCode } from '../runtime/error-code.ts';

const lockNotAvailable = '55P03';

/**
 * PostgreSQL: a lock was not to be had within `lock_timeout`. Nothing is wrong, somebody else was using it. Told by its
 * code alone, so that a server on SQLite need not load a driver to ask.
 */
export function isLockTimeout(error: unknown): boolean {
  const cause = error instanceof StorageUnavailable ? error.cause : error;
  return hasCode(cause, lockNotAvailable);
}
