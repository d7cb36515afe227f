import { z } from 'zod';

export const healthRecord = z
  .object({ status: z.literal('ok') })
  .meta({ id: 'Health', description: 'The process is alive.' });

export const readinessRecord = z
  .object({ status: z.literal('ready') })
  .meta({ id: 'Readiness', description: 'The server accepts requests.' });
