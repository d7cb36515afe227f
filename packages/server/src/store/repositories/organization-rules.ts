import type { OrganizationRule } from '@convoke/contract';
import type { OrganizationRuleRepository } from '../../ports/repositories/organization-rules.ts';
import { fromJsonText, toJsonText } from '../json-text.ts';
import type { Transaction } from '../sql-database.ts';
import { sql } from '../sql.ts';

export function organizationRuleRepository(db: Transaction): OrganizationRuleRepository {
  return {
    async version(organization) {
      const row = await db.get<{ version: number }>(sql`
        select version from organization_rules where organization_id = ${organization}`);
      return row?.version ?? 0;
    },

    async find(organization) {
      const row = await db.get<RulesRow>(sql`
        select version, rules, updated_by, updated_at from organization_rules
        where organization_id = ${organization}`);
      if (row === undefined) return undefined;
      const { version, updated_by: updatedBy, updated_at: updatedAt } = row;
      const rules = fromJsonText<readonly OrganizationRule[]>(row.rules) ?? [];
      return { version, rules, updatedBy, updatedAt };
    },

    async replace(organization, { rules, updatedBy, updatedAt }, seen) {
      const text = toJsonText(rules);
      const changed =
        seen === 0
          ? await db.run(sql`
              insert into organization_rules (organization_id, version, rules, updated_by, updated_at)
              values (${organization}, 1, ${text}, ${updatedBy}, ${updatedAt})
              on conflict (organization_id) do nothing`)
          : await db.run(sql`
              update organization_rules set version = version + 1, rules = ${text},
                updated_by = ${updatedBy}, updated_at = ${updatedAt}
              where organization_id = ${organization} and version = ${seen}`);
      return changed === 1;
    },
  };
}

interface RulesRow {
  readonly version: number;
  readonly rules: string;
  readonly updated_by: string;
  readonly updated_at: number;
}
