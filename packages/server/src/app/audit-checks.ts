import type { OrganizationId } from '@convoke/contract';
import {
  type AuditChain,
  type AuditRow,
  type ChainCheck,
  type ChainProblem,
  type SealedHead,
  chainStart,
  headProblem,
  linkProblem,
  sealProblem,
  walkFrom,
} from '../domain/audit.ts';
import type { PageRequest } from '../ports/page.ts';
import type { AuditFilter } from '../ports/repositories/audit.ts';
import { digest, missingChain, surplus } from './audit.ts';
import type { Services } from './services.ts';
import type { PartialList } from './tenant-reads.ts';

const rowsPerCheck = 500;

/**
 * Checks the next rows of a chain, at most 500, and stores how far it got. Returns true when there are more. Two
 * servers that check the same rows store the same result once.
 */
export async function checkChain(
  { store, clock }: Pick<Services, 'store' | 'clock'>,
  chain: AuditChain,
): Promise<boolean> {
  const now = clock.now();
  const { audit } = store.read;
  const seen = await audit.check(chain);
  // Before the rows: rows that are appended after this read are left to the next check.
  const head: SealedHead = (await audit.head(chain)) ?? { ...emptyHead(chain), seal: 'missing' };
  const start = walkFrom(seen, head, now);
  if (start === undefined) return false;
  const limit = Math.min(rowsPerCheck, Math.max(head.seq - start.last.seq, 0));
  const rows = limit === 0 ? [] : await audit.rows(chain, start.last.seq, limit);
  let { last } = start;
  let problem: ChainProblem | undefined;
  for (const row of rows) {
    problem = linkProblem(last, row, digest);
    if (problem !== undefined) break;
    last = { chain, seq: row.seq, hash: row.hash };
  }
  const isAtEnd = last.seq >= head.seq || rows.length < limit;
  if (problem === undefined && isAtEnd) {
    problem =
      headProblem(last, head) ??
      (await surplus(store, chain)) ??
      missingChain(head) ??
      sealProblem(head);
  }
  const check: ChainCheck = {
    chain,
    walked: { seq: last.seq, hash: last.hash },
    walkStartedAt: start.startedAt,
    verifiedToSeq: problem === undefined ? Math.max(last.seq, seen?.verifiedToSeq ?? 0) : last.seq,
    verifiedAt: now,
    problem: problem === undefined ? null : { seq: problem.seq, problem: problem.problem },
  };
  await store.transaction((tx) => tx.audit.saveCheck(check, seen));
  return problem === undefined && !isAtEnd;
}

export interface AuditStatus {
  readonly head: Pick<SealedHead, 'seq' | 'hash'>;
  readonly check: ChainCheck | undefined;
}

export async function getAuditStatus(
  { store }: Pick<Services, 'store'>,
  chain: OrganizationId,
): Promise<AuditStatus> {
  const check = await store.read.audit.check(chain);
  const head = (await store.read.audit.head(chain)) ?? emptyHead(chain);
  return { head, check };
}

/** Rows that one page looks at: a filter that matches little must not read a chain of millions at once. */
const rowsPerPage = 10_000;

export async function findAudit(
  { store }: Pick<Services, 'store'>,
  chain: OrganizationId,
  { filter, page }: { readonly filter: AuditFilter; readonly page: PageRequest },
): Promise<PartialList<AuditRow>> {
  const { limit, order, after } = page;
  const end = ((await store.read.audit.head(chain))?.seq ?? 0) + 1;
  const from = after === undefined ? (order === 'asc' ? 0 : end) : Number(after);
  const range =
    order === 'asc'
      ? { above: from, below: Math.min(from + rowsPerPage + 1, end) }
      : { above: Math.max(from - rowsPerPage - 1, 0), below: from };
  const items = await store.read.audit.search(chain, filter, { ...range, limit, order });
  const isCut = order === 'asc' ? range.below < end : range.above > 0;
  const lookedTo = String(order === 'asc' ? range.below - 1 : range.above + 1);
  return { items, isCut, lookedTo: isCut ? lookedTo : undefined };
}

function emptyHead(chain: AuditChain) {
  return { chain, seq: 0, hash: chainStart };
}
