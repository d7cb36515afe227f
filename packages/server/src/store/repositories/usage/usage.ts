import type { UsageRepository } from '../../../ports/repositories/usage/usage.ts';
import type { Transaction } from '../../sql-database.ts';
import { sql } from '../../sql.ts';

export function usageRepository(db: Transaction): UsageRepository {
  return {
    append({ runId, epoch }, entries, at) {
      for (const entry of entries) {
        db.later(sql`
          insert into usage_entries (run_id, epoch, seq, tenant_id, organization_id, session_id,
            client_id, agent_name, model, input_tokens, output_tokens, cached_input_tokens,
            reasoning_tokens, cost_micros, cost_currency, cost_source, at)
          select id, cast(${epoch} as bigint), cast(${entry.seq} as bigint), tenant_id,
            organization_id, session_id, client_id, agent_name, cast(${entry.model} as text),
            cast(${entry.inputTokens} as bigint), cast(${entry.outputTokens} as bigint),
            cast(${entry.cachedInputTokens} as bigint), cast(${entry.reasoningTokens} as bigint),
            cast(${entry.cost?.micros ?? null} as bigint),
            cast(${entry.cost?.currency ?? null} as text),
            cast(${entry.cost?.source ?? null} as text), cast(${at} as bigint)
          from runs where id = ${runId}`);
      }
    },

    async lastSeq({ runId, epoch }) {
      const row = await db.get<{ seq: number | null }>(sql`
        select max(seq) as seq from usage_entries where run_id = ${runId} and epoch = ${epoch}`);
      return row?.seq ?? 0;
    },

    forget({ endedBefore, until }, limit) {
      return db.run(sql`
        delete from usage_entries where (run_id, epoch, seq) in (
          select run_id, epoch, seq from usage_entries join runs on runs.id = run_id
          where run_id < ${until} and runs.ended_at < ${endedBefore} and is_counted = 1
          order by run_id, epoch, seq limit ${limit})`);
    },
  };
}
