import type { OrganizationId } from '@convoke/contract';
import { type JsonObject, canonicalJson } from './json.ts';

/**
 * The audit log (D-69): who did what, in the order in which it became true.
 *
 * Each organization has a chain of rows numbered 1, 2, 3 …; what concerns none of them stands in the chain
 * of the deployment. A row holds the hash of the row before it, and its own hash covers that: whoever
 * changes, removes or moves a row has to change every later row and the head of the chain as well. Rows
 * are only ever added. A hash covers no secret, because no row holds one.
 */
export interface AuditRow extends AuditEntry {
  readonly chain: AuditChain;
  readonly seq: number;
  readonly at: number;
  /** Of the row before; of the first row, `chainStart`. */
  readonly previousHash: string;
  readonly hash: string;
}

export type AuditChain = OrganizationId | typeof deploymentChain;
export const deploymentChain = 'deployment';
export const chainStart = '';

export interface AuditEntry {
  readonly by: Actor;
  readonly action: AuditAction;
  /** The id of what was acted on. */
  readonly object: string;
  readonly outcome: 'done' | 'denied';
  /** Ids, names, codes and digests; never a secret, a token or a prompt. */
  readonly details: JsonObject;
}

export type AuditAction =
  | 'access.deny'
  | 'client.create'
  | 'client.delete'
  | 'client.disable'
  | 'client.enable'
  | 'client.update'
  | 'credential.add'
  | 'credential.revoke'
  | 'interaction.answer'
  | 'keys.rotate'
  | 'member.add'
  | 'member.password'
  | 'member.remove'
  | 'organization.create'
  | 'tenant.create'
  | 'tenant.offboard'
  | 'tenant.retry'
  | 'token.issue';

/**
 * Who acts, and from where. An operator acts on the machine itself and `system` is the server by its own
 * schedule, so they have neither request nor address.
 */
export interface Actor {
  readonly kind: 'user' | 'client' | 'operator' | 'system' | 'anonymous';
  readonly id: string;
  readonly requestId: string | null;
  readonly address: string | null;
}

/** The last row of a chain: what the next one builds on, and what tells that rows are missing at the end. */
export interface ChainHead {
  readonly chain: AuditChain;
  readonly seq: number;
  readonly hash: string;
}

/** What the hash of a row covers: everything but the hash. */
export function auditText(row: Omit<AuditRow, 'hash'>): string {
  return canonicalJson({
    organization_id: row.chain,
    seq: row.seq,
    at: row.at,
    actor_kind: row.by.kind,
    actor_id: row.by.id,
    request_id: row.by.requestId,
    address: row.by.address,
    action: row.action,
    object: row.object,
    outcome: row.outcome,
    details: row.details,
    previous_hash: row.previousHash,
  });
}

export interface ChainProblem {
  readonly chain: AuditChain;
  readonly seq: number;
  readonly problem: string;
}

type Digest = (text: string) => string;

/** What is wrong with `row` coming after `before`, if anything. */
export function linkProblem(
  before: ChainHead,
  row: AuditRow,
  digest: Digest,
): ChainProblem | undefined {
  const at = { chain: row.chain, seq: before.seq + 1 };
  if (row.seq !== at.seq) return { ...at, problem: `missing: row ${row.seq} comes next` };
  const { hash, ...content } = row;
  if (digest(auditText(content)) !== hash)
    return { ...at, problem: 'changed after it was written' };
  if (row.previousHash === before.hash) return undefined;
  return { ...at, problem: 'does not follow the row before it' };
}

/** What is wrong with the end of a chain whose rows were walked up to `last`, if anything. */
export function headProblem(last: ChainHead, head: ChainHead): ChainProblem | undefined {
  const at = { chain: head.chain, seq: last.seq + 1 };
  if (last.seq < head.seq) return { ...at, problem: `missing: the chain ends at row ${head.seq}` };
  if (last.hash === head.hash) return undefined;
  return { chain: head.chain, seq: head.seq, problem: 'is not the row the chain ended with' };
}
