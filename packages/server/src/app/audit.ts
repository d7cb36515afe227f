import { hash } from 'node:crypto';
import type { UserId } from '@convoke/contract';
import {
  type AuditChain,
  type AuditEntry,
  type AuditRow,
  type ChainHead,
  type ChainProblem,
  auditText,
  chainStart,
  deploymentChain,
  headProblem,
  linkProblem,
} from '../domain/audit.ts';
import type { JsonObject } from '../domain/json.ts';
import type { StoreTransaction } from '../ports/store.ts';
import type { Services } from './services.ts';

export type NewAuditEntry = Omit<AuditEntry, 'outcome' | 'details'> & {
  readonly chain: AuditChain;
  readonly at: number;
  readonly outcome?: AuditEntry['outcome'];
  readonly details?: JsonObject;
};

/**
 * Adds a row in the transaction of what it tells of: both are kept, or neither is. It comes last there: the
 * head of the chain is held from here to the commit, and nothing else is waited for while holding it.
 */
export async function recordAudit(tx: StoreTransaction, entry: NewAuditEntry): Promise<void> {
  const { chain, at, by, action, object, outcome = 'done', details = {} } = entry;
  const head = await tx.audit.lockHead(chain);
  const content = {
    chain,
    seq: head.seq + 1,
    at,
    by,
    action,
    object,
    outcome,
    details,
    previousHash: head.hash,
  };
  await tx.audit.append({ ...content, hash: digest(auditText(content)) });
}

/** What concerns a person stands in the audit of every organization that the person belongs to. */
export async function recordForPerson(
  tx: StoreTransaction,
  userId: UserId,
  entry: Omit<NewAuditEntry, 'chain'>,
): Promise<void> {
  const memberships = await tx.organizations.membershipsOf(userId);
  const chains: AuditChain[] = memberships.map(({ organizationId }) => organizationId);
  if (chains.length === 0) chains.push(deploymentChain);
  // Always in the same order (the repository sorts): two such transactions never wait for each other.
  for (const chain of chains) await recordAudit(tx, { ...entry, chain });
}

const listMax = 10_000;

/** The newest rows first, of one chain or of all. */
export async function listAudit(
  { store }: Pick<Services, 'store'>,
  { chain, limit }: { readonly chain?: AuditChain | undefined; readonly limit: number },
): Promise<AuditRow[]> {
  return store.read.audit.newest(chain, Math.min(limit, listMax));
}

export interface VerifiedChain {
  readonly head: ChainHead;
  /** The first thing that is wrong; what comes after it proves nothing. */
  readonly problem: ChainProblem | undefined;
}

/** Walks every chain to its end, also while rows are added. */
export async function* verifyAudit({
  store,
}: Pick<Services, 'store'>): AsyncGenerator<VerifiedChain> {
  for (let after = ''; ; ) {
    const chains = await store.read.audit.chains(after, chainsPerPage);
    for (const chain of chains) yield verifyChain(store, chain);
    const last = chains.at(-1);
    if (last === undefined) return;
    after = last;
  }
}

const chainsPerPage = 100;
const rowsPerPage = 500;

async function verifyChain(store: Services['store'], chain: AuditChain): Promise<VerifiedChain> {
  const empty = { chain, seq: 0, hash: chainStart };
  // Rows that come after this moment are the next verification's business.
  const head = (await store.read.audit.head(chain)) ?? empty;
  let last: ChainHead = empty;
  while (last.seq < head.seq) {
    const limit = Math.min(rowsPerPage, head.seq - last.seq);
    const rows = await store.read.audit.rows(chain, last.seq, limit);
    for (const row of rows) {
      const problem = linkProblem(last, row, digest);
      if (problem !== undefined) return { head, problem };
      last = { chain, seq: row.seq, hash: row.hash };
    }
    if (rows.length === 0) break;
  }
  const problem = headProblem(last, head) ?? (await surplus(store, chain));
  return { head, problem };
}

/** A row and the head that counts it are written together, so none is ever ahead of a head read later. */
async function surplus(
  store: Services['store'],
  chain: AuditChain,
): Promise<ChainProblem | undefined> {
  const seq = await store.read.audit.lastSeq(chain);
  const head = await store.read.audit.head(chain);
  return seq > (head?.seq ?? 0) ? { chain, seq, problem: 'was added behind the end' } : undefined;
}

function digest(text: string): string {
  return hash('sha256', text, 'base64url');
}
