import type { RuleDocumentRecord } from '@convoke/contract';
import type { Names } from '../../app/actor-names.ts';
import type { JudgedRules } from '../../app/rules/rules.ts';
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
