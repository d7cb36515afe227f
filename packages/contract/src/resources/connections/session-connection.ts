import { z } from 'zod';
import { limits } from '../../limits.ts';
import { text } from '../../text.ts';
import { opaqueId } from '../opaque-id.ts';
import {
  connectionOwners,
  connectionReasons,
  connectionService,
  connectionStatuses,
} from './connection.ts';
import { timestamp } from '../page.ts';

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
        '`expired`: the account exists, but has to be connected again before it can be used. `missing`: there is no account.',
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

/** D-606: where the browser of a user returns to. */
export const returnUrl = text({ max: limits.connectionUrlMaxCharacters }).meta({
  description:
    'A page of the console, or of your product: its origin is one of `CONVOKE_CORS_ORIGINS`.',
  examples: ['https://app.example.com/connected'],
});

export const connectionTicket = text({ max: limits.nameMaxCharacters }).meta({
  description: 'From the query of the return URL.',
  examples: ['vK3rR0m8XhJm9h1cTt3yq2o4m6k8Jt0c2Vf5Yw7nB1s'],
});

export const begunConnection = z
  .object({
    connect_url: z.string().meta({
      description: 'The page of the service, for the browser of this user.',
      examples: ['https://github.com/login/oauth/authorize?response_type=code&state=…'],
    }),
    expires_at: timestamp.meta({ description: 'Until when the account must be connected.' }),
  })
  .meta({ description: 'A link by which a user connects an account.' });

export type BegunConnection = z.infer<typeof begunConnection>;
