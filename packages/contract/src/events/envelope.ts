import { z } from 'zod';
import { exampleId } from '../ids.ts';
import { jsonObject } from '../json.ts';
import { opaqueId } from '../resources/opaque-id.ts';
import { nextCursor, timestamp } from '../resources/page.ts';

/** Spec §6: the envelope of every event. */
export const runEvent = z
  .object({
    id: z.string().meta({
      description:
        'Orders the events of one run. Send it as Last-Event-ID to continue after this event.',
      examples: ['000000000042'],
    }),
    type: z.string().meta({ description: 'Ignore unknown types: they are never terminal.' }),
    session_id: opaqueId('session'),
    run_id: opaqueId('run'),
    created_at: timestamp,
    data: jsonObject.meta({ description: 'The payload of this type.' }),
  })
  .meta({
    id: 'RunEvent',
    description: 'One event of a run.',
    examples: [
      {
        id: '000000000002',
        type: 'message_delta',
        session_id: exampleId('session'),
        run_id: exampleId('run'),
        created_at: '2026-01-15T09:30:00.000Z',
        data: { text: 'Hello ', framework: 'scripted', model: 'scripted' },
      },
    ],
  });

export type RunEvent = z.infer<typeof runEvent>;

/**
 * Spec §6: the `event:` line repeats the type. Without it, every event reaches the `onmessage` of an EventSource
 * (D-30).
 */
export const eventNames = z
  .enum(['on', 'off'])
  .meta({
    description:
      '`off` leaves out the `event:` line, so that `onmessage` of an EventSource receives events of every type, and `error` only means a lost connection.',
  })
  .default('on');

export type EventNames = z.infer<typeof eventNames>;

/** D-34: one page of the log, for callers that accept JSON. */
export const runEventList = z.object({ events: z.array(runEvent), next_cursor: nextCursor });

export type RunEventList = z.infer<typeof runEventList>;
