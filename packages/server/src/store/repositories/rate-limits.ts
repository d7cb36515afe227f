import type { RateLimitRepository } from '../../ports/repositories/rate-limits.ts';
import type { Transaction } from '../sql-database.ts';
import { sql } from '../sql.ts';

export function rateLimitRepository(db: Transaction): RateLimitRepository {
  return {
    async take({ key, nowUs, tokenUs, capacityUs }) {
      const row = await db.get<{ full_at: number }>(sql`
        insert into rate_limits (key, full_at) values (${key}, ${nowUs + tokenUs})
        on conflict (key) do update set full_at = case
          when rate_limits.full_at > ${nowUs} then rate_limits.full_at + ${tokenUs}
          else ${nowUs + tokenUs} end
        where rate_limits.full_at <= ${nowUs + capacityUs - tokenUs}
        returning full_at`);
      if (row !== undefined) return { taken: true, fullAtUs: row.full_at };
      const known = await db.get<{ full_at: number }>(
        sql`select full_at from rate_limits where key = ${key}`,
      );
      return { taken: false, fullAtUs: known?.full_at ?? nowUs };
    },

    async removeFull(nowUs, limit) {
      const removed = await db.run(sql`
        delete from rate_limits where full_at <= ${nowUs} and key in (
          select key from rate_limits where full_at <= ${nowUs} limit ${limit})`);
      return removed >= limit;
    },
  };
}
