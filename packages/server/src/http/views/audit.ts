import type { AuditRecord, AuditStatusRecord } from '@convoke/contract';
import type { AuditStatus } from '../../app/audit-checks.ts';
import type { AuditRow } from '../../domain/audit.ts';
import { isoTime } from '../../domain/iso-time.ts';

export function auditView(row: AuditRow, name: string | undefined): AuditRecord {
  const { kind, id, address, requestId } = row.by;
  return {
    seq: row.seq,
    at: isoTime(row.at),
    actor: { kind, id, name },
    action: row.action,
    object: row.object,
    outcome: row.outcome,
    address: address ?? undefined,
    request_id: requestId ?? undefined,
    details: { ...row.details },
    hash: row.hash,
  };
}

export function auditStatusView({ head, check }: AuditStatus): AuditStatusRecord {
  const problem = check?.problem ?? undefined;
  return {
    rows: head.seq,
    last_seq: head.seq,
    last_hash: head.hash,
    verified_to_seq: check?.verifiedToSeq ?? 0,
    verified_at: check && isoTime(check.verifiedAt),
    problem: problem && { seq: problem.seq, reason: problem.problem },
  };
}
