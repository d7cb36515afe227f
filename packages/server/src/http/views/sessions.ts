import { type SessionRecord, isTerminalSessionStatus } from '@convoke/contract';
import type { Names } from '../../app/actor-names.ts';
import { type Session, acceptsFiles } from '../../domain/session.ts';
import { isoTime } from '../../domain/iso-time.ts';
import type { Settings } from '../../ports/settings.ts';
import { actorView, timeIn } from './fields.ts';

/** D-10. `expires_at` is when an idle session expires (D-17). */
export function sessionView(
  session: Session,
  { sessionIdleTtlMs: idleTtlMs, fileAttachments }: Settings,
  names: Names,
): SessionRecord {
  const isResting = session.status === 'idle' || session.status === 'stopped';
  const expiresAt = isResting && idleTtlMs > 0 ? session.updatedAt + idleTtlMs : undefined;
  return {
    id: session.id,
    agent_name: session.agentName,
    status: session.status,
    status_reason: session.statusReason ?? undefined,
    title: session.title ?? undefined,
    labels: session.labels,
    created_by: actorView(session.createdBy, names),
    end_user: session.endUser ?? undefined,
    session_files_supported: acceptsFiles(session, { fileAttachments }),
    current_run_id: session.currentRunId ?? undefined,
    pending_interactions: session.pendingInteractions,
    created_at: isoTime(session.createdAt),
    updated_at: isoTime(session.updatedAt),
    stopped_at: timeIn(session.stoppedAt),
    ended_at: timeIn(isTerminalSessionStatus(session.status) ? session.endedAt : undefined),
    expires_at: timeIn(expiresAt),
  };
}
