import { type RunId, runId, sessionId, tenantId } from '@convoke/contract';
import type { Json } from '../../../domain/json.ts';
import type {
  CallPlace,
  PastCall,
  PastCallRepository,
} from '../../../ports/repositories/runs/past-calls.ts';
import { fromJsonText } from '../../json-text.ts';
import type { Statement, Transaction } from '../../sql-database.ts';
import { sql } from '../../sql.ts';

export function pastCallRepository(db: Transaction): PastCallRepository {
  return {
    async runs(tenant, { from, below }, limit) {
      const isBelow = below === undefined ? sql`` : sql`and id < ${below}`;
      const rows = await db.all<RunRow>(sql`
        select id, tenant_id, session_id, agent_name from runs
        where tenant_id = ${tenant} and id >= ${from} ${isBelow} order by id desc limit ${limit}`);
      return rows.map((row) => ({
        id: runId(row.id),
        tenantId: tenantId(row.tenant_id),
        sessionId: sessionId(row.session_id),
        agentName: row.agent_name,
      }));
    },

    async calls(runs, { after, limit, maxBytes }) {
      if (runs.length === 0) return { calls: [], isCut: false };
      // First the lengths alone, which the database knows without reading the inputs.
      const listed = await db.all<PlaceRow>(sql`
        select run_id, ref, bytes from (${callsOf(runs, lengths)}) as past
        where ${behind(after)} order by run_id desc, ref desc limit ${limit}`);
      const fitting = countFitting(listed, maxBytes);
      const last = listed[fitting - 1];
      const isCut = fitting < listed.length || listed.length === limit;
      if (last === undefined) return { calls: [], isCut };
      const rows = await db.all<CallRow>(sql`
        select run_id, ref, tool_name, at, input from (${callsOf(runs, inputs)}) as past
        where (run_id, ref) >= (${last.run_id}, ${last.ref}) and ${behind(after)}
        order by run_id desc, ref desc limit ${fitting}`);
      return { calls: rows.map(callOf), isCut };
    },
  };
}

interface InputColumns {
  readonly ofCall: Statement;
  readonly ofRequest: Statement;
}

const lengths: InputColumns = {
  ofCall: sql`octet_length(input) as bytes`,
  ofRequest: sql`octet_length(tool_input) as bytes`,
};
const inputs: InputColumns = { ofCall: sql`input`, ofRequest: sql`tool_input as input` };

/**
 * The ledger's entry of each call, else the request about it. A request whose allow was used is that of a call under
 * the same ref or another (D-176), and one that ends in `denied` is that of a call which a person had been asked about
 * (D-761).
 */
function callsOf(runs: readonly RunId[], { ofCall, ofRequest }: InputColumns): Statement {
  const ids = sql.join(runs.map((id) => sql`${id}`));
  return sql`
    select run_id, ref, tool_name, begun_at as at, ${ofCall} from tool_calls
    where run_id in (${ids})
    union all
    select run_id, request_id as ref, tool_name, created_at as at, ${ofRequest}
    from interactions as request
    where run_id in (${ids}) and kind = 'permission' and spent_on is null
      and not exists (select 1 from tool_calls
        where run_id = request.run_id and ref = request.request_id)
      and not exists (select 1 from interactions as first
        where first.run_id = request.run_id and request.request_id = first.request_id || ' denied')`;
}

function behind(place: CallPlace | undefined): Statement {
  return place === undefined ? sql`1 = 1` : sql`(run_id, ref) < (${place.runId}, ${place.ref})`;
}

/** How many of the first rows have at most so many bytes together. */
function countFitting(rows: readonly PlaceRow[], maxBytes: number): number {
  let total = 0;
  const over = rows.findIndex(({ bytes }, index) => (total += bytes) > maxBytes && index > 0);
  return over === -1 ? rows.length : over;
}

interface RunRow {
  id: string;
  tenant_id: string;
  session_id: string;
  agent_name: string;
}

interface PlaceRow {
  run_id: string;
  ref: string;
  bytes: number;
}

interface CallRow {
  run_id: string;
  ref: string;
  tool_name: string;
  at: number;
  input: string;
}

function callOf({ run_id, ref, tool_name: toolName, at, input }: CallRow): PastCall {
  const read = fromJsonText<Json>(input) ?? null;
  return { runId: runId(run_id), ref, toolName, input: read, at, bytes: input.length };
}
