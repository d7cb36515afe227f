import { type Operation, type OrganizationId, idPattern, statusOfError } from '@convoke/contract';
import { recordAudit } from '../app/audit.ts';
import { Refusal } from '../app/refusal.ts';
import type { Services } from '../app/services.ts';
import type { GateRequest } from '../auth/bearer.ts';
import type { Gate } from '../auth/gate.ts';
import { type Rate, createRateLimit } from '../runtime/rate-limit.ts';
import type { RequestFacts } from './handler.ts';

/** Tells the audit of management calls that the gate refused (D-69). */
export interface Denials {
  /** Never fails: a denial stands whether or not it could be written down. */
  record(error: unknown, denied: DeniedCall): Promise<void>;
}

export interface DeniedCall {
  readonly operation: Operation;
  readonly organization: OrganizationId;
  readonly facts: Pick<RequestFacts, 'id' | 'address'> & { readonly raw: GateRequest };
}

/** Anybody can be denied any number of times, so what is written down of it is bounded. */
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
    const who = await gate.identify(facts.raw);
    const key = `${organization} ${who.kind} ${who.id === '' ? facts.address : who.id}`;
    if (!perActor.take(key).ok || !perOrganization.take(organization).ok) return;
    // An organization that is not there has no audit, and nobody to read it.
    if ((await store.read.organizations.find(organization)) === undefined) return;
    const by = { ...who, requestId: facts.id, address: facts.address };
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
        log.error('a denial was not recorded', reason, {
          request_id: denied.facts.id,
          operation: denied.operation.id,
        });
      });
    },
  };
}
