import type { Store } from '../ports/store.ts';

/** Whether the database can be read and takes writes: the condition of `GET /readyz`. */
export async function canServe(store: Store): Promise<boolean> {
  const isReadable = await store.read.organizations.first().then(
    () => true,
    () => false,
  );
  return isReadable && (await store.acceptsWrites());
}
