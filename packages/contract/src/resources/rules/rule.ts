import { z } from 'zod';
import { limits } from '../../limits.ts';
import { text } from '../../text.ts';

export const ruleEffects = ['allow', 'ask', 'deny'] as const;
export type RuleEffect = (typeof ruleEffects)[number];

/** D-512: the lowest role that may allow a call. */
export const approverRoles = ['operator', 'admin', 'owner'] as const;
export type ApproverRole = (typeof approverRoles)[number];

/** How far an allow reaches (D-521), the narrowest first. */
export const rememberWidths = ['never', 'exact', 'tool'] as const;
export type RememberWidth = (typeof rememberWidths)[number];

/** D-521: what an allow of this session also allows: the same input, or every call of the tool. */
export const memoryWidths = ['exact', 'tool'] as const;
export type MemoryWidth = (typeof memoryWidths)[number];

/** How a request ends that has no answer in time (D-522). */
export const expiryOutcomes = ['fail', 'deny'] as const;
export type ExpiryOutcome = (typeof expiryOutcomes)[number];

/** Who has written a rule: the author of the agent or its organization (D-760). */
export const ruleSources = ['organization', 'agent'] as const;
export type RuleSource = (typeof ruleSources)[number];

/** A rule that decided about a call. */
export const matchedRule = z.object({
  source: z.enum(ruleSources),
  name: z.string(),
  reason: z.string().optional(),
});

const glob = text({ max: limits.ruleGlobMaxCharacters, lines: 'one' }).meta({
  examples: ['mail/*'],
});
const globs = z.array(glob).min(1).max(limits.ruleGlobsMax);

const scalarText = z.string().max(limits.ruleValueMaxCharacters);
const scalar = z.union([scalarText, z.number(), z.boolean(), z.null()], {
  error: `must be a string of at most ${limits.ruleValueMaxCharacters} characters, a number, true, false or null`,
});

/** RFC 6901, without the pointer to the whole input. */
const pointerPattern = new RegExp(`^(?:/(?:[^~/]|~[01])*){1,${limits.rulePathMaxLevels}}$`);

const comparisons = {
  eq: scalar.optional(),
  ne: scalar.optional(),
  in: z.array(scalar).min(1).max(limits.ruleValuesMax).optional(),
  gt: z.number().optional(),
  gte: z.number().optional(),
  lt: z.number().optional(),
  lte: z.number().optional(),
  like: glob.optional(),
  present: z.boolean().optional(),
};

const conditionParts = {
  path: z
    .string()
    .max(limits.rulePathMaxCharacters)
    .regex(
      pointerPattern,
      `must be a JSON Pointer into the input, such as /amount, with 1 to ${limits.rulePathMaxLevels} levels`,
    )
    .meta({ examples: ['/amount'] }),
  ...comparisons,
};

/** One comparison of one value of the input (D-502). */
const ruleCondition = z.strictObject(conditionParts).superRefine((condition, context) => {
  const given = Object.keys(comparisons).filter((name) => name in condition);
  if (given.length === 1) return;
  const names = Object.keys(comparisons).join(', ');
  const message =
    given.length === 0
      ? `must have a comparison: one of ${names}`
      : `has ${given.length} comparisons (${given.join(', ')}): write one condition for each`;
  context.addIssue({ code: 'custom', message });
});

const approverParts = {
  role: z.enum(approverRoles).optional(),
  people: z.int().min(1).max(limits.ruleApproversMax).optional(),
  not_starter: z.boolean().optional(),
  clients: z.boolean().optional(),
  end_users: z.boolean().optional(),
};

/** D-512: who may allow a call, with every demand of its rules. */
export const approvers = z.object({
  role: z.enum(approverRoles).meta({ description: 'The lowest role of a person who may allow.' }),
  people: z.int().meta({ description: 'How many people have to allow it.' }),
  not_starter: z.boolean().meta({ description: 'Who started the run may not allow.' }),
  clients: z.boolean().meta({ description: 'Automation clients may allow, too.' }),
  end_users: z.boolean().meta({ description: 'Session tokens may allow, too.' }),
});

/** Who may allow a call; what could never be fulfilled is refused (D-512). */
const ruleApprovers = z
  .strictObject(approverParts)
  .superRefine(({ people = 1, not_starter, clients, end_users }, context) => {
    const exclude = (path: 'clients' | 'end_users', why: string) => {
      context.addIssue({ code: 'custom', path: [path], message: `cannot be true with ${why}` });
    };
    if (people > 1 && clients === true) exclude('clients', 'people above 1');
    if (people > 1 && end_users === true) exclude('end_users', 'people above 1');
    else if (not_starter === true && end_users === true) {
      exclude('end_users', 'not_starter: an end user acts as the client that started the run');
    }
  });

const ofEveryRule = {
  name: z
    .string()
    .regex(/^[a-z0-9-]{1,64}$/, 'must be 1 to 64 characters of a-z, 0-9 and -')
    .meta({ examples: ['big-refunds'] }),
  tools: globs,
  when: z.array(ruleCondition).max(limits.ruleConditionsMax).optional(),
  effect: z.enum(ruleEffects),
  reason: text({ max: limits.ruleReasonMaxCharacters }).optional(),
  observe: z.boolean().optional(),
  approvers: ruleApprovers.optional(),
  remember: z.enum(rememberWidths).optional(),
  wait_hours: z.number().positive().max(limits.ruleWaitHoursMax).optional(),
  on_expiry: z.enum(expiryOutcomes).optional(),
};

const onlyWithAsk = ['approvers', 'remember', 'wait_hours', 'on_expiry'] as const;

type RuleParts = z.infer<z.ZodObject<typeof ofEveryRule>>;

/** D-501, D-512: keys that say nothing beside others are refused, because their author expects something of them. */
function refuseContradictions(rule: RuleParts, context: z.RefinementCtx): void {
  const refuse = (path: string, message: string) => {
    context.addIssue({ code: 'custom', path: [path], message });
  };
  const { effect, observe, remember, approvers } = rule;
  for (const key of onlyWithAsk) {
    if (effect !== 'ask' && rule[key] !== undefined) refuse(key, 'belongs to effect: ask only');
  }
  if (effect === 'allow' && observe === true) {
    refuse('observe', 'cannot be true with effect: allow');
  }
  const isKept = remember !== undefined && remember !== 'never';
  if (isKept && (approvers?.people ?? 1) > 1) {
    refuse('remember', 'cannot be used where more than one person has to allow the call');
  }
}

/** D-501: a rule of `agent.yaml`. */
export const agentRule = z.strictObject(ofEveryRule).superRefine(refuseContradictions);

const ofOrganizationRules = {
  ...ofEveryRule,
  agents: globs.optional(),
  tenants: z
    .array(z.string().min(1).max(limits.idMaxCharacters))
    .min(1)
    .max(limits.ruleTenantsMax)
    .optional(),
};

/** D-501: a rule of an organization, which may name agents and tenants. */
export const organizationRule = z
  .strictObject(ofOrganizationRules)
  .superRefine(refuseContradictions);

/** The same in an answer, which may grow. */
export const ruleRecord = z
  .object({
    ...ofOrganizationRules,
    when: z
      .array(
        z.object(conditionParts).meta({
          id: 'RuleCondition',
          description: 'Compares one value of the input of a tool call.',
        }),
      )
      .optional(),
    approvers: z
      .object(approverParts)
      .meta({ id: 'RuleApprovers', description: 'Who may allow the call.' })
      .optional(),
  })
  .meta({
    id: 'Rule',
    description:
      'Says what happens with tool calls that match it. The first rule of a list that matches decides.',
  });

export type AgentRule = z.infer<typeof agentRule>;
export type OrganizationRule = z.infer<typeof organizationRule>;

/** D-501: a list with its bounds; names are unique in it. */
export const agentRules = listOf(agentRule);
export const organizationRules = listOf(organizationRule);

function listOf<Rule extends z.ZodType<{ readonly name: string }>>(rule: Rule) {
  return z
    .array(rule)
    .max(limits.rulesMax)
    .superRefine((rules, context) => {
      const names = new Set<string>();
      for (const [index, { name }] of rules.entries()) {
        const message = `${name} is the name of another rule of the list`;
        if (names.has(name)) context.addIssue({ code: 'custom', path: [index, 'name'], message });
        names.add(name);
      }
      if (new TextEncoder().encode(JSON.stringify(rules)).length <= limits.rulesMaxBytes) return;
      const message = `must have at most ${limits.rulesMaxBytes} bytes as JSON`;
      context.addIssue({ code: 'custom', message });
    });
}
