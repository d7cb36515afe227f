import { hash } from 'node:crypto';
import type { UserId } from '@convoke/contract';
import {
  type Actor,
  type AuditChain,
  type AuditEntry,
  type AuditRow,
  type ChainHead,
  type ChainProblem,
  type RequestActor,
  type SealedHead,
  auditText,
  chainStart,
  deploymentChain,
  headProblem,
  linkProblem,
  sealProblem,
} from '../domain/audit.ts';
import type { JsonObject } from '../domain/json.ts';
import type { StoreTransaction } from '../ports/store.ts';
import type { Services } from './services.ts';

export type NewAuditEntry = Omit<AuditEntry, 'by' | 'outcome' | 'details'> & {
  readonly by: RequestActor;
  readonly chain: AuditChain;
  readonly at: number;
  readonly outcome?: AuditEntry['outcome'];
  readonly details?: JsonObject;
};

/**
 * Appends a row in the transaction of the action it describes, so both are written atomically. Call it last in
 * the transaction: the head of the chain is locked from here to the commit, and no other lock may follow.
 */
export async function recordAudit(tx: StoreTransaction, entry: NewAuditEntry): Promise<void> {
  const { chain, at, action, object, outcome = 'done' } = entry;
  const { endUser, ...by } = entry.by;
  const details = endUser === undefined ? entry.details : { ...entry.details, end_user: endUser };
  const head = await tx.audit.lockHead(chain);
  const content = {
    chain,
    seq: head.seq + 1,
    at,
    by,
    action,
    object,
    outcome,
    details: details ?? {},
    previousHash: head.hash,
  };
  await tx.audit.append({ ...content, hash: digest(auditText(content)) });
}

/** Records an action on a person in the chain of every organization they belong to. */
export async function recordForPerson(
  tx: StoreTransaction,
  userId: UserId,
  entry: Omit<NewAuditEntry, 'chain'>,
): Promise<void> {
  const memberships = await tx.organizations.membershipsOf(userId);
  const chains: AuditChain[] = memberships.map(({ organizationId }) => organizationId);
  if (chains.length === 0) chains.push(deploymentChain);
  // The repository sorts them: with one lock order two such transactions cannot deadlock.
  for (const chain of chains) await recordAudit(tx, { ...entry, chain });
}

const listMax = 10_000;

/** Lists rows of one chain or of all, newest first. */
export async function listAudit(
  { store }: Pick<Services, 'store'>,
  { chain, limit }: { readonly chain?: AuditChain | undefined; readonly limit: number },
): Promise<AuditRow[]> {
  return store.read.audit.newest(chain, Math.min(limit, listMax));
}

export interface VerifiedChain {
  readonly head: SealedHead;
  /** The first problem; rows after it prove nothing. */
  readonly problem: ChainProblem | undefined;
  /** False when the problem is with a row, not only with the seal. */
  readonly hasIntactRows: boolean;
}

/** Verifies the chain of the deployment and of every organization. Rows may be appended at the same time. */
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
  const empty: SealedHead = { chain, seq: 0, hash: chainStart, seal: 'missing' };
  // Rows appended after this read are left to the next verification.
  const head = (await store.read.audit.head(chain)) ?? empty;
  let last: ChainHead = empty;
  while (last.seq < head.seq) {
    const limit = Math.min(rowsPerPage, head.seq - last.seq);
    const rows = await store.read.audit.rows(chain, last.seq, limit);
    for (const row of rows) {
      const problem = linkProblem(last, row, digest);
      if (problem !== undefined) return { head, problem, hasIntactRows: false };
      last = { chain, seq: row.seq, hash: row.hash };
    }
    if (rows.length === 0) break;
  }
  const problem = headProblem(last, head) ?? (await surplus(store, chain)) ?? missingChain(head);
  return { head, problem: problem ?? sealProblem(head), hasIntactRows: problem === undefined };
}

/** The first row of an organization is its creation: an organization without rows has lost them. */
export function missingChain({ chain, seq }: ChainHead): ChainProblem | undefined {
  return seq === 0 ? { chain, seq: 1, problem: 'missing: the chain has no rows' } : undefined;
}

/**
 * Seals the heads that have no valid seal, after an operator has looked at them: those that are older than seals, and
 * those that an older version of the service has moved. Each is recorded in the chain itself. Chains with wrong rows
 * stay as they are.
 */
export async function sealAudit(
  { store, clock }: Pick<Services, 'store' | 'clock'>,
  by: Actor,
): Promise<ChainHead[]> {
  const done: ChainHead[] = [];
  for await (const { head, hasIntactRows } of verifyAudit({ store })) {
    if (head.seal === 'valid' || !hasIntactRows) continue;
    const sealed = await store.transaction(async (tx) => {
      const { chain, seq, hash } = await tx.audit.lockHead(head.chain);
      await tx.audit.seal({ chain, seq, hash });
      const details = { seal: head.seal, seq, hash };
      await recordAudit(tx, {
        chain,
        at: clock.now(),
        by,
        action: 'audit.seal',
        object: chain,
        details,
      });
      return { chain, seq, hash };
    });
    done.push(sealed);
  }
  return done;
}

/** A row and the head are written together, so no row can be beyond a head that is read later. */
export async function surplus(
  store: Services['store'],
  chain: AuditChain,
): Promise<ChainProblem | undefined> {
  const seq = await store.read.audit.lastSeq(chain);
  const head = await store.read.audit.head(chain);
  return seq > (head?.seq ?? 0) ? { chain, seq, problem: 'was added after the end' } : undefined;
}

export function digest(text: string): string {
  return hash('sha256', text, 'base64url');
}
