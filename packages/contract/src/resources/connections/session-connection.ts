import { z } from 'zod';
import { opaqueId } from '../opaque-id.ts';
import {
  connectionOwners,
  connectionReasons,
  connectionService,
  connectionStatuses,
} from './connection.ts';

/** `missing`: there is no connection for the owner. */
export const sessionConnectionStatuses = [...connectionStatuses, 'missing'] as const;
export type SessionConnectionStatus = (typeof sessionConnectionStatuses)[number];

/** A service that the agent of a session uses, and whether its account is there. */
export const sessionConnectionRecord = z
  .object({
    service: connectionService,
    owner: z.enum(connectionOwners).meta({
      description:
        'Whose account the agent uses: that of the tenant, or that of the end user of the session.',
    }),
    required: z.boolean().meta({ description: 'Whether no run starts without it.' }),
    status: z.enum(sessionConnectionStatuses).meta({
      description:
        '`expired`: it is there, and cannot be used until it is connected again. `missing`: there is none.',
    }),
    status_reason: z.enum(connectionReasons).optional(),
    connection_id: opaqueId('connection')
      .meta({ description: 'The connection that a run would use now.' })
      .optional(),
  })
  .meta({ id: 'SessionConnection', description: 'An account that the agent of a session uses.' });

export type SessionConnectionRecord = z.infer<typeof sessionConnectionRecord>;

export const sessionConnectionList = z.object({
  connections: z.array(sessionConnectionRecord),
});
