import { StorageUnavailable } from '../ports/errors.ts';
import { hasCode } from '../runtime/error-code.ts';

const lockNotAvailable = '55P03';

/**
 * PostgreSQL: a lock held by another transaction was not free within `lock_timeout`. Recognised by its code alone, so
 * that a server on SQLite does not load the driver.
 */
export function isLockTimeout(error: unknown): boolean {
  const cause = error instanceof StorageUnavailable ? error.cause : error;
  return hasCode(cause, lockNotAvailable);
}
