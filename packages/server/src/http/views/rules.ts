import type { RuleDocumentRecord, RuleTrialRecord } from '@convoke/contract';
import type { Names } from '../../app/actor-names.ts';
import type { JudgedRules } from '../../app/rules/rules.ts';
import { isoTime } from '../../domain/iso-time.ts';
import type { RuleTrial } from '../../app/rules/try-rules.ts';
import { timeIn } from './fields.ts';

export function rulesView({ document, warnings }: JudgedRules, names: Names): RuleDocumentRecord {
  const { updatedBy } = document ?? {};
  return {
    version: document?.version ?? 0,
    rules: [...(document?.rules ?? [])],
    warnings: [...warnings],
    updated_at: timeIn(document?.updatedAt),
    updated_by: updatedBy,
    updated_by_name: updatedBy === undefined ? undefined : names.get(updatedBy),
  };
}

export function trialView({ calls, changed, rules, changes }: RuleTrial): RuleTrialRecord {
  return {
    calls,
    changed,
    rules: [...rules],
    changes: changes.map((change) => ({
      run_id: change.runId,
      session_id: change.sessionId,
      tenant_id: change.tenantId,
      agent_name: change.agentName,
      tool_name: change.toolName,
      at: isoTime(change.at),
      before: change.before,
      after: change.after,
      rule: change.rule,
    })),
  };
}
