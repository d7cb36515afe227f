import type { OrganizationId } from '@convoke/contract';
import { type JsonObject, canonicalJson } from './json.ts';

/**
 * A row of the audit log (D-69): who did what, in commit order.
 *
 * Each organization has a chain of rows numbered 1, 2, 3 …; rows that concern no organization are in the
 * chain of the deployment. A row holds the hash of the row before it, and its own hash covers that one: to
 * change, remove or move a row undetected, every later row and the head of the chain must change too. Rows
 * are only appended. No row holds a secret.
 */
export interface AuditRow extends AuditEntry {
  readonly chain: AuditChain;
  readonly seq: number;
  readonly at: number;
  /** Hash of the previous row; `chainStart` in the first row. */
  readonly previousHash: string;
  readonly hash: string;
}

export type AuditChain = OrganizationId | typeof deploymentChain;
export const deploymentChain = 'deployment';
export const chainStart = '';

export interface AuditEntry {
  readonly by: Actor;
  readonly action: AuditAction;
  /** Id of the object of the action. */
  readonly object: string;
  readonly outcome: 'done' | 'denied';
  /** Ids, names, codes and digests; never a secret, a token or a prompt. */
  readonly details: JsonObject;
}

export type AuditAction =
  | 'access.deny'
  | 'audit.seal'
  | 'budget.create'
  | 'budget.delete'
  | 'budget.update'
  | 'call.allow'
  | 'call.deny'
  | 'client.create'
  | 'client.delete'
  | 'client.disable'
  | 'client.enable'
  | 'client.update'
  | 'connection.connect'
  | 'connection.delete'
  | 'connection.expire'
  | 'connection.put'
  | 'credential.add'
  | 'credential.revoke'
  | 'interaction.answer'
  | 'interaction.approve'
  | 'interaction.forget'
  | 'invitation.accept'
  | 'invitation.create'
  | 'invitation.revoke'
  | 'keys.revoke'
  | 'keys.rotate'
  | 'member.add'
  | 'member.link'
  | 'member.name'
  | 'member.password'
  | 'member.remove'
  | 'member.role'
  | 'member.sign_in'
  | 'member.sign_out'
  | 'organization.create'
  | 'rules.update'
  | 'run.signal'
  | 'schedule.create'
  | 'schedule.delete'
  | 'schedule.pause'
  | 'schedule.resume'
  | 'schedule.run'
  | 'schedule.update'
  | 'session_token.issue'
  | 'tenant.create'
  | 'tenant.offboard'
  | 'tenant.retry'
  | 'token.exchange'
  | 'token.issue'
  | 'webhook.create'
  | 'webhook.delete'
  | 'webhook.disable'
  | 'webhook.replay'
  | 'webhook.rotate'
  | 'webhook.update';

/**
 * Who acts, and from where. `operator` (on the machine itself) and `system` (a scheduled task of the server)
 * have neither request nor address.
 */
export interface Actor {
  readonly kind: 'user' | 'client' | 'operator' | 'system' | 'anonymous';
  readonly id: string;
  readonly requestId: string | null;
  readonly address: string | null;
}

/** D-199: an actor of a request. A client may act for a user of its product, whom only the details of a row name. */
export interface RequestActor extends Actor {
  readonly endUser?: string | undefined;
}

/** Number and hash of the last row of a chain. Reveals rows that are missing at the end. */
export interface ChainHead {
  readonly chain: AuditChain;
  readonly seq: number;
  readonly hash: string;
}

/**
 * Whether the head is the one that the service wrote last. Its seal is a MAC under a key outside the database, so that
 * access to the database is not enough to cut rows off the end and move the head back.
 */
export type SealState = 'valid' | 'missing' | 'broken';

export interface SealedHead extends ChainHead {
  readonly seal: SealState;
}

/** The text that the seal of a head covers. */
export function headText({ chain, seq, hash }: ChainHead): string {
  return canonicalJson({ organization_id: chain, seq, hash });
}

/** The text that the hash of a row covers: every field but the hash. */
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

/** Checks that `row` follows `before`; undefined when it does. */
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

/** Reports a head that the service did not write, or cannot be known to have written. */
export function sealProblem({ chain, seq, seal }: SealedHead): ChainProblem | undefined {
  switch (seal) {
    case 'valid':
      return undefined;
    case 'missing':
      return {
        chain,
        seq,
        problem: 'ends a chain without a seal: see `convoke audit seal --help`',
      };
    case 'broken':
      return { chain, seq, problem: 'has a seal that does not fit: the end was changed' };
    default:
      return seal satisfies never;
  }
}

/** Checks that a chain whose last row is `last` ends at its head; undefined when it does. */
export function headProblem(last: ChainHead, head: ChainHead): ChainProblem | undefined {
  const at = { chain: head.chain, seq: last.seq + 1 };
  if (last.seq < head.seq) return { ...at, problem: `missing: the chain ends at row ${head.seq}` };
  if (last.hash === head.hash) return undefined;
  return { chain: head.chain, seq: head.seq, problem: 'is not the row the chain ended with' };
}

/**
 * How far the rows of a chain were checked. A walk begins at the first row and ends at the head; new rows are checked
 * by continuing, and every row again by the walk of the next day.
 */
export interface ChainCheck {
  readonly chain: AuditChain;
  /** The last row that the current walk found intact. */
  readonly walked: Pick<ChainHead, 'seq' | 'hash'>;
  readonly walkStartedAt: number;
  /** The highest row that a walk found intact. */
  readonly verifiedToSeq: number;
  readonly verifiedAt: number;
  readonly problem: Pick<ChainProblem, 'seq' | 'problem'> | null;
}

/** Every row is checked again after a day. A chain that was wrong, after an hour: it may have been repaired. */
export const walkEveryMs = 24 * 3600 * 1000;
export const walkWrongEveryMs = 3600 * 1000;

/** Where the next part of the check begins: at the first row for a new walk, otherwise where the last part ended. */
export function walkFrom(
  check: ChainCheck | undefined,
  head: ChainHead,
  now: number,
): { readonly last: ChainHead; readonly startedAt: number } | undefined {
  const { chain } = head;
  const fresh = { last: { chain, seq: 0, hash: chainStart }, startedAt: now };
  if (check === undefined) return fresh;
  const againAfterMs = check.problem === null ? walkEveryMs : walkWrongEveryMs;
  const isOver = check.problem !== null || check.walked.seq >= head.seq;
  if (isOver && now - check.walkStartedAt >= againAfterMs) return fresh;
  if (isOver) return undefined;
  return { last: { chain, ...check.walked }, startedAt: check.walkStartedAt };
}
