import { z } from 'zod';
import { limits } from '../../limits.ts';
import { opaqueId } from '../opaque-id.ts';
import { timestamp } from '../page.ts';

/** What a run can wait for beside a person: a time, a message from outside, or the end of a run that it has called. */
export const waitKinds = ['timer', 'signal', 'run'] as const;

/** The last four are those of a called run; it is `refused` where it was not started. */
export const waitOutcomes = [
  'fired',
  'received',
  'timed_out',
  'completed',
  'failed',
  'cancelled',
  'refused',
] as const;

/** Why a run was not called: a rule or a person did not allow it, or it cannot be. */
export const refusedCallCodes = ['denied', 'refused'] as const;

export const signalName = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,64}$/, {
    error: `has 1 to ${limits.signalNameMaxCharacters} characters of A-Z, a-z, 0-9, _ and -`,
  })
  .meta({ description: 'The name that the agent receives the message by.', examples: ['paid'] });

/** How many open waits a run shows. */
export const waitsShown = 20;

export const openWait = z
  .object({
    kind: z.enum([...waitKinds, 'interaction']),
    name: z.string().meta({
      description:
        'Given by the agent; of a called run its agent, of an interaction the tool, or `question`.',
      examples: ['paid'],
    }),
    since: timestamp,
    until: timestamp
      .meta({
        description: 'When it ends at the latest. Absent for a called run that may take any time.',
      })
      .optional(),
    interaction_key: z
      .string()
      .meta({ description: 'The interaction that needs a person.' })
      .optional(),
    child_run_id: opaqueId('run').meta({ description: 'The called run.' }).optional(),
    child_session_id: opaqueId('session')
      .meta({ description: 'The session of the called run.' })
      .optional(),
  })
  .meta({ id: 'OpenWait', description: 'Something that a run waits for.' });

/** Whether the run waited for the message, or it is kept until the run does. */
const signalStatuses = ['received', 'kept'] as const;

export const sentSignal = z
  .object({
    run_id: opaqueId('run'),
    name: signalName,
    status: z.enum(signalStatuses).meta({
      description: '`received`: the run has waited for it. `kept`: it does not wait for it yet.',
    }),
  })
  .meta({ id: 'Signal', description: 'A message that was sent to a run.' });
