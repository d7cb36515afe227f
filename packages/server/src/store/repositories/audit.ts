import { organizationId } from '@convoke/contract';
import {
  type Actor,
  type AuditAction,
  type AuditChain,
  type AuditEntry,
  type AuditRow,
  type ChainCheck,
  type ChainHead,
  type SealedHead,
  chainStart,
  deploymentChain,
} from '../../domain/audit.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { AuditFilter, AuditRepository } from '../../ports/repositories/audit.ts';
import { fromJsonText } from '../json-text.ts';
import type { Statement, Transaction } from '../sql-database.ts';
import { sql } from '../sql.ts';

/** Computes the seal of a head. */
export type SealHead = (head: ChainHead) => string;

export function auditRepository(db: Transaction, sealOf: SealHead | undefined): AuditRepository {
  /** Chains whose head this transaction has locked with a valid seal. */
  const sealed = new Set<AuditChain>();
  const withSeal = (chain: AuditChain, { seq, hash, seal }: HeadRow): SealedHead => {
    const head = { chain, seq, hash };
    if (seal === null) return { ...head, seal: 'missing' };
    return { ...head, seal: seal === sealOf?.(head) ? 'valid' : 'broken' };
  };

  async function lockKnownHead(chain: AuditChain): Promise<SealedHead | undefined> {
    const row = await db.get<HeadRow>(sql`
      select seq, hash, seal from audit_heads where organization_id = ${chain} ${sql.forUpdate}`);
    if (row === undefined) return undefined;
    const head = withSeal(chain, row);
    if (head.seal === 'valid') sealed.add(chain);
    return head;
  }

  async function insertHead(chain: AuditChain, seal: string | null): Promise<void> {
    await db.run(sql`
      insert into audit_heads (organization_id, seq, hash, seal)
      values (${chain}, 0, ${chainStart}, ${seal}) on conflict (organization_id) do nothing`);
  }

  const sealOfEmpty = (chain: AuditChain) => sealOf?.({ chain, seq: 0, hash: chainStart }) ?? null;

  return {
    async head(chain) {
      const row = await db.get<HeadRow>(
        sql`select seq, hash, seal from audit_heads where organization_id = ${chain}`,
      );
      return row && withSeal(chain, row);
    },
    open: (chain) => insertHead(chain, sealOfEmpty(chain)),
    async lockHead(chain) {
      const known = await lockKnownHead(chain);
      if (known !== undefined) return known;
      // The chain of an organization is opened with it: without a head it was removed, and gets no seal.
      await insertHead(chain, chain === deploymentChain ? sealOfEmpty(chain) : null);
      const made = await lockKnownHead(chain);
      if (made === undefined) throw new Error('the head of an audit chain disappeared');
      return made;
    },
    async append(row) {
      await db.run(sql`
        insert into audit_rows (organization_id, seq, at, actor_kind, actor_id, request_id, address,
          action, object, outcome, details, previous_hash, hash)
        values (${row.chain}, ${row.seq}, ${row.at}, ${row.by.kind}, ${row.by.id},
          ${row.by.requestId}, ${row.by.address}, ${row.action}, ${row.object}, ${row.outcome},
          ${JSON.stringify(row.details)}, ${row.previousHash}, ${row.hash})`);
      const seal = sealed.has(row.chain) ? (sealOf?.(row) ?? null) : null;
      const moved = await db.run(sql`
        update audit_heads set seq = ${row.seq}, hash = ${row.hash}, seal = ${seal}
        where organization_id = ${row.chain} and seq = ${row.seq - 1}`);
      if (moved !== 1) throw new Error('an audit row was inserted without the lock on the head');
    },
    async seal(head) {
      const changed = await db.run(sql`
        update audit_heads set seal = ${sealOf?.(head) ?? null}
        where organization_id = ${head.chain} and seq = ${head.seq} and hash = ${head.hash}`);
      if (changed !== 1) throw new Error('the head of an audit chain changed while it was locked');
      sealed.add(head.chain);
    },
    async chains(after, limit) {
      const rows = await db.all<{ organization_id: string }>(sql`
        select organization_id from (
          select organization_id from audit_heads
          union select organization_id from audit_rows
          union select id from organizations
        ) as chains
        where organization_id > ${after} order by organization_id limit ${limit}`);
      return rows.map((row) => toChain(row.organization_id));
    },
    async rows(chain, after, limit) {
      const rows = await db.all<StoredRow>(sql`
        select ${columns} from audit_rows where organization_id = ${chain} and seq > ${after}
        order by seq limit ${limit}`);
      return rows.map(toRow);
    },
    async newest(chain, limit) {
      const rows = await db.all<StoredRow>(
        chain === undefined
          ? sql`select ${columns} from audit_rows
              order by at desc, organization_id desc, seq desc limit ${limit}`
          : sql`select ${columns} from audit_rows where organization_id = ${chain}
              order by seq desc limit ${limit}`,
      );
      return rows.map(toRow);
    },
    async search(chain, filter, { above, below, limit, order }) {
      const where = [
        sql`organization_id = ${chain}`,
        sql`seq > ${above}`,
        sql`seq < ${below}`,
        ...conditions(filter),
      ];
      const sorted = order === 'asc' ? sql`order by seq` : sql`order by seq desc`;
      const rows = await db.all<StoredRow>(sql`
        select ${columns} from audit_rows where ${sql.join(where, ' and ')} ${sorted} limit ${limit}`);
      return rows.map(toRow);
    },
    async check(chain) {
      const row = await db.get<CheckRow>(sql`
        select organization_id, walked_seq, walked_hash, walk_started_at, verified_to_seq, verified_at,
          problem_seq, problem
        from audit_checks where organization_id = ${chain}`);
      return row && toCheck(row);
    },
    async toCheck({ allBefore, wrongBefore }, limit) {
      const rows = await db.all<{ organization_id: string }>(sql`
        select h.organization_id from audit_heads h
        left join audit_checks c on c.organization_id = h.organization_id
        where c.organization_id is null or c.walk_started_at <= ${allBefore}
          or (c.problem is not null and c.walk_started_at <= ${wrongBefore})
          or (c.problem is null and c.walked_seq < h.seq)
        order by coalesce(c.verified_at, 0), h.organization_id limit ${limit}`);
      return rows.map((row) => toChain(row.organization_id));
    },
    async saveCheck(check, seen) {
      const { walked, problem } = check;
      if (seen === undefined) {
        const made = await db.run(sql`
          insert into audit_checks (organization_id, walked_seq, walked_hash, walk_started_at,
            verified_to_seq, verified_at, problem_seq, problem)
          values (${check.chain}, ${walked.seq}, ${walked.hash}, ${check.walkStartedAt},
            ${check.verifiedToSeq}, ${check.verifiedAt}, ${problem?.seq ?? null},
            ${problem?.problem ?? null})
          on conflict (organization_id) do nothing`);
        return made === 1;
      }
      const changed = await db.run(sql`
        update audit_checks set walked_seq = ${walked.seq}, walked_hash = ${walked.hash},
          walk_started_at = ${check.walkStartedAt}, verified_to_seq = ${check.verifiedToSeq},
          verified_at = ${check.verifiedAt}, problem_seq = ${problem?.seq ?? null},
          problem = ${problem?.problem ?? null}
        where organization_id = ${check.chain} and walked_seq = ${seen.walked.seq}
          and walk_started_at = ${seen.walkStartedAt}`);
      return changed === 1;
    },
    async lastSeq(chain) {
      const row = await db.get<{ seq: number | null }>(
        sql`select max(seq) as seq from audit_rows where organization_id = ${chain}`,
      );
      return row?.seq ?? 0;
    },
  };
}

const columns = sql`organization_id, seq, at, actor_kind, actor_id, request_id, address, action,
  object, outcome, details, previous_hash, hash`;

interface HeadRow {
  seq: number;
  hash: string;
  seal: string | null;
}

interface StoredRow {
  organization_id: string;
  seq: number;
  at: number;
  actor_kind: Actor['kind'];
  actor_id: string;
  request_id: string | null;
  address: string | null;
  action: AuditAction;
  object: string;
  outcome: AuditEntry['outcome'];
  details: string;
  previous_hash: string;
  hash: string;
}

function conditions({ action, actorId, object, outcome, from, to }: AuditFilter): Statement[] {
  return [
    ...(action === undefined ? [] : [sql`action = ${action}`]),
    ...(actorId === undefined ? [] : [sql`actor_id = ${actorId}`]),
    ...(object === undefined ? [] : [sql`object = ${object}`]),
    ...(outcome === undefined ? [] : [sql`outcome = ${outcome}`]),
    ...(from === undefined ? [] : [sql`at >= ${from}`]),
    ...(to === undefined ? [] : [sql`at < ${to}`]),
  ];
}

interface CheckRow {
  organization_id: string;
  walked_seq: number;
  walked_hash: string;
  walk_started_at: number;
  verified_to_seq: number;
  verified_at: number;
  problem_seq: number | null;
  problem: string | null;
}

function toCheck(row: CheckRow): ChainCheck {
  const { problem_seq: seq, problem } = row;
  return {
    chain: toChain(row.organization_id),
    walked: { seq: row.walked_seq, hash: row.walked_hash },
    walkStartedAt: row.walk_started_at,
    verifiedToSeq: row.verified_to_seq,
    verifiedAt: row.verified_at,
    problem: seq === null || problem === null ? null : { seq, problem },
  };
}

function toChain(text: string): AuditChain {
  return text === deploymentChain ? deploymentChain : organizationId(text);
}

function toRow(row: StoredRow): AuditRow {
  return {
    chain: toChain(row.organization_id),
    seq: row.seq,
    at: row.at,
    by: {
      kind: row.actor_kind,
      id: row.actor_id,
      requestId: row.request_id,
      address: row.address,
    },
    action: row.action,
    object: row.object,
    outcome: row.outcome,
    details: toDetails(row.details),
    previousHash: row.previous_hash,
    hash: row.hash,
  };
}

/** A tampered row may contain anything: it must be reported as changed, not fail to parse. */
function toDetails(text: string): JsonObject {
  try {
    return fromJsonText<JsonObject>(text) ?? {};
  } catch {
    return { unreadable: text };
  }
}
