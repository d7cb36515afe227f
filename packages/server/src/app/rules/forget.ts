import type { InteractionKey, SessionId } from '@convoke/contract';
import type { RequestActor } from '../../domain/audit.ts';
import type { TenantScope } from '../../domain/scope.ts';
import { recordAudit } from '../audit.ts';
import { refuse } from '../refusal.ts';
import type { Services } from '../services.ts';

export interface ForgetAllow {
  readonly sessionId: SessionId;
  readonly key: InteractionKey;
  readonly by: RequestActor;
}

/** D-521: takes back that an allow is remembered. Once more, it changes nothing. */
export async function forgetAllow(
  { store, clock }: Pick<Services, 'store' | 'clock'>,
  scope: TenantScope,
  { sessionId, key, by }: ForgetAllow,
): Promise<void> {
  await store.transaction(async (tx) => {
    const found = (await tx.interactions.find(scope, sessionId, key)) ?? refuse('not_found');
    if (!(await tx.interactions.forget(found)) || found.kind !== 'permission') return;
    const { organizationId: chain, tenantId } = scope;
    await recordAudit(tx, {
      chain,
      at: clock.now(),
      by,
      action: 'interaction.forget',
      object: key,
      details: {
        tenant_id: tenantId,
        session_id: sessionId,
        run_id: found.runId,
        tool_name: found.toolName,
      },
    });
  });
}
