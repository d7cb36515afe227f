import { userId } from '@convoke/contract';
import type { PasswordRepository } from '../../../ports/repositories/identity/passwords.ts';
import type { Transaction } from '../../sql-database.ts';
import { sql } from '../../sql.ts';

export function passwordRepository(db: Transaction): PasswordRepository {
  return {
    async find(user) {
      const row = await db.get<PasswordRow>(sql`
        select user_id, hash, is_one_time, set_at, expires_at from user_passwords
        where user_id = ${user}`);
      return (
        row && {
          userId: userId(row.user_id),
          hash: row.hash,
          isOneTime: row.is_one_time === 1,
          setAt: row.set_at,
          expiresAt: row.expires_at,
        }
      );
    },
    async save({ userId: user, hash, isOneTime, setAt, expiresAt }) {
      const oneTime = isOneTime ? 1 : 0;
      await db.run(sql`
        insert into user_passwords (user_id, hash, is_one_time, set_at, expires_at)
        values (${user}, ${hash}, ${oneTime}, ${setAt}, ${expiresAt})
        on conflict (user_id) do update set hash = excluded.hash,
          is_one_time = excluded.is_one_time, set_at = excluded.set_at,
          expires_at = excluded.expires_at`);
    },
    async replace({ userId: user, hash, isOneTime, setAt, expiresAt }, replaced) {
      const oneTime = isOneTime ? 1 : 0;
      const changed = await db.run(sql`
        update user_passwords set hash = ${hash}, is_one_time = ${oneTime}, set_at = ${setAt},
          expires_at = ${expiresAt}
        where user_id = ${user} and hash = ${replaced}
          and (expires_at is null or expires_at > ${setAt})`);
      return changed === 1;
    },
  };
}

interface PasswordRow {
  user_id: string;
  hash: string;
  is_one_time: number;
  set_at: number;
  expires_at: number | null;
}
