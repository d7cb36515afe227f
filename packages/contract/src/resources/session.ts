import { z } from 'zod';
import { createdBy, labels } from './labels.ts';
import { opaqueId } from './opaque-id.ts';
import { limits } from '../limits.ts';
import { text } from '../text.ts';
import { nextCursor, timestamp } from './page.ts';

/** D-11. `waiting`: a run waits for an answer. */
export const sessionStatuses = [
  'idle',
  'running',
  'waiting',
  'stopping',
  'stopped',
  'failed',
  'terminated',
] as const;

export type SessionStatus = (typeof sessionStatuses)[number];

export const terminalSessionStatuses = [
  'failed',
  'terminated',
] as const satisfies readonly SessionStatus[];

export type TerminalSessionStatus = (typeof terminalSessionStatuses)[number];

export function isTerminalSessionStatus(status: SessionStatus): status is TerminalSessionStatus {
  return status === 'failed' || status === 'terminated';
}

/** D-13. `suspend` can be resumed; `terminate` cannot. */
export const stopModes = ['suspend', 'terminate'] as const;
export type StopMode = (typeof stopModes)[number];

/** D-591: never changes. */
export const sessionEndUser = text({ max: limits.endUserMaxCharacters, blank: 'refused' }).meta({
  description:
    'The user of your product that the session is for, by a name of your own: agents use the connections of this user. A session that a person opens is for that person.',
  examples: ['u-17'],
});

/** A session with its agent, state and current run (D-10). */
export const sessionRecord = z
  .object({
    id: opaqueId('session'),
    agent_name: z.string().meta({ examples: ['demo'] }),
    status: z.enum(sessionStatuses),
    status_reason: z.string().optional(),
    title: z
      .string()
      .meta({ description: 'Given at create or later; else the first words of the first prompt.' })
      .optional(),
    labels,
    created_by: createdBy.optional(),
    end_user: z
      .string()
      .meta({ description: 'The user whose connections its runs use.', examples: ['u-17'] })
      .optional(),
    session_files_supported: z
      .boolean()
      .meta({ description: 'Whether this session supports the file operations.' }),
    current_run_id: opaqueId('run').optional(),
    pending_interactions: z.int().min(0),
    created_at: timestamp,
    updated_at: timestamp,
    stopped_at: timestamp.optional(),
    ended_at: timestamp.optional(),
    expires_at: timestamp.optional(),
  })
  .meta({ id: 'Session', description: 'A conversation with one agent.' });

export type SessionRecord = z.infer<typeof sessionRecord>;

export const sessionList = z.object({ sessions: z.array(sessionRecord), next_cursor: nextCursor });
