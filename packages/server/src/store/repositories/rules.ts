import { type OrganizationRule, organizationId, userId } from '@convoke/contract';
import type { RuleRepository } from '../../ports/repositories/rules.ts';
import { fromJsonText, toJsonText } from '../json-text.ts';
import type { Transaction } from '../sql-database.ts';
import { sql } from '../sql.ts';

export function ruleRepository(db: Transaction): RuleRepository {
  return {
    async version(organization) {
      const row = await db.get<Pick<RulesRow, 'version'>>(sql`
        select version from organization_rules where organization_id = ${organization}`);
      return row?.version ?? 0;
    },
    async find(organization) {
      const row = await db.get<RulesRow>(sql`
        select organization_id, version, rules, updated_by, updated_at from organization_rules
        where organization_id = ${organization}`);
      return (
        row && {
          organizationId: organizationId(row.organization_id),
          version: row.version,
          rules: fromJsonText<readonly OrganizationRule[]>(row.rules) ?? [],
          updatedBy: userId(row.updated_by),
          updatedAt: row.updated_at,
        }
      );
    },
    async save({ organizationId: organization, version, rules, updatedBy, updatedAt }) {
      const text = toJsonText(rules);
      const changed =
        version === 1
          ? await db.run(sql`
              insert into organization_rules (organization_id, version, rules, updated_by, updated_at)
              values (${organization}, ${version}, ${text}, ${updatedBy}, ${updatedAt})
              on conflict (organization_id) do nothing`)
          : await db.run(sql`
              update organization_rules set version = ${version}, rules = ${text},
                updated_by = ${updatedBy}, updated_at = ${updatedAt}
              where organization_id = ${organization} and version = ${version - 1}`);
      return changed === 1;
    },
  };
}

interface RulesRow {
  organization_id: string;
  version: number;
  rules: string;
  updated_by: string;
  updated_at: number;
}
