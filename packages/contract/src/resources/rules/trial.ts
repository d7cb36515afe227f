import { z } from 'zod';
import { limits } from '../../limits.ts';
import { opaqueId } from '../opaque-id.ts';
import { nextCursor, timestamp } from '../page.ts';
import { organizationRules, ruleEffects } from './rule.ts';

const effect = z.enum(ruleEffects);

export const ruleTrialBody = z.strictObject({
  rules: organizationRules,
  since: z.iso
    .datetime({ offset: true, error: 'must be a time as in 2026-01-15T00:00:00Z' })
    .meta({
      description: 'Calls of runs that were started since then; by default the last 7 days.',
    })
    .optional(),
  tenant_id: z
    .string()
    .min(1)
    .max(limits.idMaxCharacters)
    .meta({ description: 'Calls of this tenant only.' })
    .optional(),
  cursor: z
    .string()
    .max(limits.cursorMaxCharacters)
    .meta({ description: '`next_cursor` of the page before, with the same draft; opaque.' })
    .optional(),
});

const ruleMatches = z
  .object({
    name: z.string().meta({ examples: ['big-refunds'] }),
    matched: z.int().min(0).meta({ description: 'Calls that it decides about or observes.' }),
  })
  .meta({
    id: 'RuleMatches',
    description: 'How many calls of the page a rule of a draft matches.',
  });

const ruleChange = z
  .object({
    run_id: opaqueId('run'),
    session_id: opaqueId('session'),
    tenant_id: opaqueId('tenant'),
    agent_name: z.string(),
    tool_name: z.string(),
    at: timestamp,
    before: effect,
    after: effect,
    rule: z.string().meta({
      description: 'The rule that makes the difference: of the draft, or of the present document.',
      examples: ['big-refunds'],
    }),
  })
  .meta({
    id: 'RuleChange',
    description: 'A past call about which a draft decides differently. Its input is not shown.',
  });

export const ruleTrialRecord = z
  .object({
    calls: z.int().min(0).meta({ description: 'Past calls that the page has looked at.' }),
    changed: z
      .int()
      .min(0)
      .meta({ description: 'Those about which the draft decides differently.' }),
    rules: z.array(ruleMatches).meta({ description: 'The rules of the draft, in their order.' }),
    changes: z
      .array(ruleChange)
      .meta({ description: `The newest ${limits.ruleTrialChangesMax} that changed.` }),
    next_cursor: nextCursor,
  })
  .meta({ id: 'RuleTrial', description: 'What a draft of rules would have decided.' });

export type RuleTrialRecord = z.infer<typeof ruleTrialRecord>;
