import { type Operation, type OrganizationId, idPattern, statusOfError } from '@convoke/contract';
import { recordAudit } from '../app/audit.ts';
import { Refusal } from '../app/refusal.ts';
import type { Services } from '../app/services.ts';
import type { GateRequest } from '../auth/tokens/bearer.ts';
import type { Gate } from '../auth/gate.ts';
import { networkOf } from '../runtime/network-of.ts';
import { type Rate, createRateLimit } from '../runtime/rate-limit.ts';
import type { RequestFacts } from './handler.ts';

/** Writes management calls that the gate refused to the audit (D-69). */
export interface Denials {
  /** Never throws: the caller is denied even if the audit row could not be written. */
  record(error: unknown, denied: DeniedCall): Promise<void>;
}

export interface DeniedCall {
  readonly operation: Operation;
  readonly organization: OrganizationId;
  readonly facts: Pick<RequestFacts, 'id' | 'address'> & { readonly raw: GateRequest };
}

/** Anyone can cause any number of denials, so the number of audit rows is limited. */
const actorRate: Rate = { perMinute: 60, burst: 60 };
const organizationRate: Rate = { perMinute: 600, burst: 600 };

export function createDenials({
  store,
  clock,
  log,
  gate,
}: Pick<Services, 'store' | 'clock' | 'log'> & { readonly gate: Gate }): Denials {
  const perActor = createRateLimit(clock, actorRate);
  const perOrganization = createRateLimit(clock, organizationRate);

  async function write(error: Refusal, { operation, organization, facts }: DeniedCall) {
    if (!idPattern.test(organization)) return;
    const actor = await gate.identify(facts.raw);
    const key = `${organization} ${actor.kind} ${actor.id === '' ? networkOf(facts.address) : actor.id}`;
    if (!perActor.take(key).ok || !perOrganization.take(organization).ok) return;
    // An organization that does not exist has no audit.
    if ((await store.read.organizations.find(organization)) === undefined) return;
    const by = { ...actor, requestId: facts.id, address: facts.address };
    const details = { code: error.code };
    await store.transaction((tx) =>
      recordAudit(tx, {
        chain: organization,
        at: clock.now(),
        by,
        action: 'access.deny',
        object: operation.id,
        outcome: 'denied',
        details,
      }),
    );
  }

  return {
    async record(error, denied) {
      if (!(error instanceof Refusal)) return;
      const status = statusOfError(denied.operation, error.code);
      if (status !== 401 && status !== 403) return;
      await write(error, denied).catch((reason: unknown) => {
        log.error('denial not written to the audit', reason, {
          request_id: denied.facts.id,
          operation: denied.operation.id,
        });
      });
    },
  };
}
