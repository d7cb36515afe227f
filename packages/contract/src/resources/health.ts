import { z } from 'zod';
import { timestamp } from './page.ts';

export const healthRecord = z
  .object({ status: z.literal('ok') })
  .meta({ id: 'Health', description: 'The process is alive.' });

export const readinessRecord = z
  .object({ status: z.literal('ready') })
  .meta({ id: 'Readiness', description: 'The server accepts requests.' });

export const systemRecord = z
  .object({
    version: z.string().meta({ examples: ['0.1.0'] }),
    started_at: timestamp.meta({ description: 'When the server that answered was started.' }),
    frameworks: z
      .array(
        z.object({
          name: z.string().meta({ examples: ['scripted'] }),
          ready: z.boolean(),
          reason: z.string().meta({ description: 'Why its agents cannot run.' }).optional(),
        }),
      )
      .meta({ description: 'What agents can be built on, on the server that answered.' }),
    file_attachments_enabled: z.boolean(),
    limits: z.object({
      page_items: z.int(),
      file_bytes: z.int(),
      queued_runs_per_session: z.int(),
      clients_per_organization: z.int(),
      tenants_per_organization: z.int(),
      calls_per_minute: z.int().meta({ description: 'Per client or person; 0 means no limit.' }),
    }),
  })
  .meta({ id: 'System', description: 'The server and its limits.' });

export type SystemRecord = z.infer<typeof systemRecord>;
