type Cleanup = () => Promise<void> | void;

const cleanups: Cleanup[] = [];

/**
 * Runs a cleanup after the last test of the current file, the newest first. Test support uses this and not `afterAll`
 * at the top of a module: files that share a process load that module only once.
 */
export function atFileEnd(cleanup: Cleanup): void {
  cleanups.push(cleanup);
}

/** Runs all of them, also after one has failed; throws the first failure. */
export async function cleanUpAfterFile(): Promise<void> {
  const failures: unknown[] = [];
  for (let next = cleanups.pop(); next !== undefined; next = cleanups.pop()) {
    try {
      await next();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}
