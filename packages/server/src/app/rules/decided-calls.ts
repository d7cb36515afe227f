import type { InteractionKey, RuleEffect, RunId, SessionId } from '@convoke/contract';
import type { Actor } from '../../domain/audit.ts';
import type { DecidedBy } from '../../domain/interaction.ts';
import { type Json, type JsonObject, canonicalJson } from '../../domain/json.ts';
import type { MatchedRule } from '../../domain/rules/decide.ts';
import type { TenantScope } from '../../domain/scope.ts';
import type { StoreTransaction } from '../../ports/store.ts';
import { digest, recordAudit } from '../audit.ts';
import type { Services } from '../services.ts';

/** A decision about a call that no person made; `ask` is the one to wait for a person. */
export interface DecidedCall {
  readonly effect: RuleEffect;
  readonly by: DecidedBy;
  readonly toolName: string;
  readonly input: Json;
  readonly rules: readonly Pick<MatchedRule, 'source' | 'name'>[];
  /** The version of the organization's document; absent where only time decided. */
  readonly version?: number;
  /** The interaction that holds the decision. Absent where a rule allowed: nothing is held then. */
  readonly key?: InteractionKey;
}

interface RunOfCalls {
  readonly scope: TenantScope;
  readonly sessionId: SessionId;
  readonly runId: RunId;
}

const service: Actor = { kind: 'system', id: 'rules', requestId: null, address: null };

/**
 * Counts the decisions, and writes to the audit what was denied, or allowed by what a person had said before (D-524).
 * An agent can cause any number of them, so the rows are limited; the log of the run has them all. Call it last in the
 * transaction, as `recordAudit`.
 */
export async function recordDecidedCalls(
  { clock, metrics, auditedCalls }: Pick<Services, 'clock' | 'metrics' | 'auditedCalls'>,
  tx: StoreTransaction,
  { run, calls }: { readonly run: RunOfCalls; readonly calls: readonly DecidedCall[] },
): Promise<void> {
  if (calls.length === 0) return;
  tx.onCommit(() => {
    for (const { effect, by } of calls) metrics.callsDecided.add(1, effect, by);
  });
  const { organizationId } = run.scope;
  for (const call of calls) {
    const { effect, key } = call;
    if (effect === 'ask' || key === undefined) continue;
    if (!auditedCalls.take(organizationId).ok) return;
    await recordAudit(tx, {
      chain: organizationId,
      at: clock.now(),
      by: service,
      action: `call.${effect}`,
      object: key,
      details: detailsOf(run, call),
    });
  }
}

/** The digest is that of the input in rows of `interaction.answer`, so that both can be compared. */
function detailsOf(
  { scope, sessionId, runId }: RunOfCalls,
  { by, toolName, input, rules, version }: DecidedCall,
): JsonObject {
  return {
    tenant_id: scope.tenantId,
    session_id: sessionId,
    run_id: runId,
    by,
    tool_name: toolName,
    rules: rules.map(({ source, name }) => ({ source, name })),
    ...(version !== undefined && { version }),
    asked_sha256: digest(canonicalJson(input)),
  };
}
