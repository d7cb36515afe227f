import type { Json } from '../../../domain/json.ts';
import type { Touches, ToolCall } from '../../../domain/run/tool-call.ts';
import type { ToolCallRepository } from '../../../ports/repositories/runs/tool-calls.ts';
import { fromJsonText, toJsonText } from '../../json-text.ts';
import type { Transaction } from '../../sql-database.ts';
import { sql } from '../../sql.ts';

export function toolCallRepository(db: Transaction): ToolCallRepository {
  return {
    async begin({ runId, tenantId }, intent) {
      const { ref, epoch, toolName, input, touches, begunAt } = intent;
      const changed = await db.run(sql`
        insert into tool_calls (run_id, ref, tenant_id, epoch, tool_name, input, touches,
          is_repeatable, status, begun_at)
        values (${runId}, ${ref}, ${tenantId}, ${epoch}, ${toolName}, ${JSON.stringify(input)}, ${touches},
          ${intent.isRepeatable === true ? 1 : 0}, 'begun', ${begunAt})
        on conflict (run_id, ref) do update set status = 'begun', epoch = excluded.epoch,
          input = excluded.input, begun_at = excluded.begun_at, is_saved = 0
        where tool_calls.status = 'again'
          or (tool_calls.status = 'begun' and tool_calls.epoch = excluded.epoch)`);
      return changed === 1;
    },

    async end({ runId }, { ref, epoch, result, endedAt }) {
      await db.run(sql`
        update tool_calls set status = 'ended', ok = ${result.ok ? 1 : 0},
          output = ${toJsonText(result.output)}, ended_at = ${endedAt}
        where run_id = ${runId} and ref = ${ref} and epoch = ${epoch} and status = 'begun'`);
    },

    async settle({ runId }, call, seen = 'begun') {
      const note = call.status === 'left' ? call.note : null;
      const changed = await db.run(sql`
        update tool_calls set status = ${call.status}, output = ${toJsonText(note)}
        where run_id = ${runId} and ref = ${call.ref} and status = ${seen}`);
      if (changed !== 1) throw new Error(`the call ${call.ref} of ${runId} is no longer ${seen}`);
    },

    async markSaved({ runId }) {
      await db.run(sql`
        update tool_calls set is_saved = 1
        where run_id = ${runId} and status in ('ended', 'left') and is_saved = 0`);
    },

    forget({ endedBefore, until }, limit) {
      return db.run(sql`
        delete from tool_calls where (run_id, ref) in (
          select run_id, ref from tool_calls join runs on runs.id = run_id
          where run_id < ${until} and runs.ended_at < ${endedBefore}
          order by run_id, ref limit ${limit})`);
    },

    async toRepeat(runId) {
      const rows = await db.all<CallRow>(sql`
        select * from tool_calls where run_id = ${runId} and status = 'again'
        order by ref limit ${callsMax}`);
      return rows.map(toCall);
    },

    async ofRun(runId) {
      const rows = await db.all<CallRow>(sql`
        select * from tool_calls where run_id = ${runId} order by begun_at, ref limit ${callsMax}`);
      return rows.map(toCall);
    },
  };
}

/** Far more than a run makes. */
const callsMax = 100_000;

interface CallRow {
  ref: string;
  epoch: number;
  tool_name: string;
  input: string;
  touches: Touches;
  is_repeatable: number;
  is_saved: number;
  status: ToolCall['status'];
  ok: number | null;
  output: string | null;
  begun_at: number;
}

function toCall(row: CallRow): ToolCall {
  const intent = {
    ref: row.ref,
    epoch: row.epoch,
    toolName: row.tool_name,
    input: JSON.parse(row.input) as Json,
    touches: row.touches,
    ...(row.is_repeatable === 1 && { isRepeatable: true }),
    ...(row.is_saved === 1 && { isSaved: true }),
    begunAt: row.begun_at,
  };
  const output = fromJsonText<string>(row.output) ?? '';
  switch (row.status) {
    case 'begun':
    case 'again':
      return { ...intent, status: row.status };
    case 'left':
      return { ...intent, status: row.status, note: output };
    case 'ended':
      return { ...intent, status: row.status, result: { ok: row.ok === 1, output } };
    default:
      return row.status satisfies never;
  }
}
