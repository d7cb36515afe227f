import type { ServiceLink } from '../domain/connections/link.ts';
import { resolveReferences } from './secret-references.ts';

/** The secret of our client at a service, read each time, so that a changed file counts for the next link. */
export async function clientSecretOf({
  clientSecret,
}: Pick<ServiceLink, 'clientSecret'>): Promise<string | undefined> {
  if (clientSecret === undefined) return undefined;
  const resolved = await resolveReferences({ client_secret: clientSecret });
  if (!resolved.ok) throw new Error(resolved.message);
  return resolved.values['client_secret'];
}
