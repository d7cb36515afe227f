import { z } from 'zod';
import { actorName } from '../labels.ts';
import { opaqueId } from '../opaque-id.ts';
import { timestamp } from '../page.ts';
import { ruleRecord } from './rule.ts';

/** D-528: what the author of a rule should know, although it is accepted. */
export const ruleWarningCodes = [
  'unknown_agent',
  'unknown_tool',
  'unreachable',
  'too_few_approvers',
  'not_enforced',
] as const;
export type RuleWarningCode = (typeof ruleWarningCodes)[number];

const ruleWarning = z
  .object({
    rule: z.string().meta({ description: 'Its name.', examples: ['big-refunds'] }),
    code: z.enum(ruleWarningCodes),
    message: z.string(),
  })
  .meta({
    id: 'RuleWarning',
    description: 'Why a rule may not do what it was meant to do. The document is stored anyway.',
  });

export const ruleDocumentRecord = z
  .object({
    version: z
      .int()
      .min(0)
      .meta({ description: 'Counts the changes; 0 before the first document.' }),
    rules: z.array(ruleRecord),
    warnings: z.array(ruleWarning),
    updated_at: timestamp.optional(),
    updated_by: opaqueId('user').optional(),
    updated_by_name: actorName.optional(),
  })
  .meta({ id: 'RuleDocument', description: 'The rules of an organization about tool calls.' });

export type RuleDocumentRecord = z.infer<typeof ruleDocumentRecord>;
