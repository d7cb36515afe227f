import type { Services } from '../../app/services.ts';
import type { Provisioner } from '../../ports/provisioner.ts';

/** Tenants read in one statement. */
const perStatement = 100;

/**
 * Removes the session folders of offboarded tenants from this machine. Each machine keeps the folders of the sessions
 * it executed, but only one of them carries out an offboarding (D-67).
 */
export async function forgetTenants({
  store,
  provisioner,
}: Pick<Services, 'store'> & { readonly provisioner: Provisioner }): Promise<boolean> {
  const placed = await provisioner.tenantsWithFolder();
  for (let at = 0; at < placed.length; at += perStatement) {
    const gone = await store.read.tenants.offboarded(placed.slice(at, at + perStatement));
    for (const id of gone) await provisioner.removeFolder(id);
  }
  return false;
}
