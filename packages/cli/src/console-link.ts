import type { Convoke } from '@convoke/sdk';
import { collect } from './collect.ts';
import { usedLogin } from './sign-in/used-login.ts';

/** Returns where a person sees a run in the console. */
export async function consoleLink(convoke: Convoke, runId: string): Promise<string> {
  const { baseUrl = '', tenantId } = usedLogin() ?? {};
  const [workspace] = tenantId === undefined ? await collect(convoke.workspaces()) : [];
  const tenant = tenantId ?? workspace?.tenant.tenant_id;
  return `${baseUrl.replace(/\/$/, '')}/console/t/${tenant}/runs/${runId}`;
}
