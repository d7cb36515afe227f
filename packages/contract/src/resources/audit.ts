import { z } from 'zod';
import { limits } from '../limits.ts';
import { jsonObject } from '../json.ts';
import { text } from '../text.ts';
import { moment, nextCursor, pageQuery, timestamp } from './page.ts';

/** One row of the audit log, part of the hash chain of its organization (D-69). */
export const auditRecord = z
  .object({
    seq: z.int().min(1).meta({ description: 'Number in the chain of the organization.' }),
    at: timestamp,
    actor: z.object({
      kind: z.enum(['user', 'client', 'operator', 'system', 'anonymous']),
      id: z.string().meta({ description: 'Empty for an anonymous caller.' }),
      name: z
        .string()
        .meta({
          description: 'Name or else email address of a person, or name of a client, as it is now.',
        })
        .optional(),
    }),
    action: z.string().meta({ examples: ['interaction.answer'] }),
    object: z.string().meta({ description: 'Id of the resource that was acted on.' }),
    outcome: z.enum(['done', 'denied']),
    address: z.string().optional(),
    request_id: z.string().optional(),
    details: jsonObject,
    hash: z.string().meta({ description: 'Covers this row and the hash of the row before it.' }),
  })
  .meta({ id: 'AuditRow', description: 'Who did what, from where, by which request.' });

export type AuditRecord = z.infer<typeof auditRecord>;

export const auditList = z.object({ rows: z.array(auditRecord), next_cursor: nextCursor });

export const auditStatusRecord = z
  .object({
    rows: z.int().min(0),
    last_seq: z.int().min(0),
    last_hash: z.string().meta({
      description: 'Store it outside the database: it proves that no earlier row was changed.',
    }),
    verified_to_seq: z.int().min(0).meta({ description: 'Rows that the server has checked.' }),
    verified_at: timestamp.meta({ description: 'Absent before the first check.' }).optional(),
    problem: z
      .object({ seq: z.int().min(0), reason: z.string() })
      .meta({ description: 'The first row that is wrong. Rows after it prove nothing.' })
      .optional(),
  })
  .meta({ id: 'AuditStatus', description: 'Whether the hash chain of the audit log is intact.' });

export type AuditStatusRecord = z.infer<typeof auditStatusRecord>;

const exact = text({ max: limits.nameMaxCharacters });

export const auditQuery = z.strictObject({
  action: exact.meta({ description: 'Only this action.', examples: ['token.exchange'] }).optional(),
  actor_id: exact.meta({ description: 'Only actions of this person or client.' }).optional(),
  object: exact.meta({ description: 'Only actions on this resource.' }).optional(),
  outcome: z.enum(['done', 'denied']).optional(),
  from: moment.meta({ description: 'Not before this time.' }).optional(),
  to: moment.meta({ description: 'Before this time.' }).optional(),
  ...pageQuery,
});
