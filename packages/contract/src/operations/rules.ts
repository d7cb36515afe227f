import { z } from 'zod';
import { organizationIdSchema } from '../ids.ts';
import { byRole, defineOperation } from '../operation.ts';
import { ruleDocumentRecord } from '../resources/rules/document.ts';
import { ruleTrialBody, ruleTrialRecord } from '../resources/rules/trial.ts';
import { organizationRules } from '../resources/rules/rule.ts';

const ofOrganization = { organization_id: organizationIdSchema } as const;

const example = {
  version: 0,
  rules: [
    {
      name: 'big-refunds',
      agents: ['refunds', 'desk-*'],
      tools: ['refund'],
      when: [{ path: '/amount', gt: 500 }],
      effect: 'ask',
      approvers: { role: 'admin', people: 2, not_starter: true },
      reason: 'Refunds above 500 need two people.',
    },
  ],
} as const;

export const getRules = defineOperation({
  id: 'get_rules',
  sdk: { method: 'rules.get' },
  method: 'GET',
  path: '/v1/organizations/{organization_id}/rules',
  tag: 'Organizations',
  summary: 'Read the rules for tool calls',
  description:
    'Returns the one document of the organization, as it was written. Before the first it is version 0 without rules. `warnings` are about the agents, tenants and people of now.',
  caller: 'human',
  scope: byRole,
  params: ofOrganization,
  responses: { 200: { description: 'The document.', schema: ruleDocumentRecord } },
  errors: [],
});

export const setRules = defineOperation({
  id: 'set_rules',
  sdk: { method: 'rules.set' },
  method: 'PUT',
  path: '/v1/organizations/{organization_id}/rules',
  tag: 'Organizations',
  summary: 'Replace the rules for tool calls',
  description:
    'The first rule that matches a call decides; a list without a match allows it. What the agent asks for itself holds as well: the stricter of both counts. A new document counts from the next call on. While the old or the new one has a rule with `role: owner`, only an owner replaces it. A document equal to the current one changes nothing, whatever its version, so a request whose answer was lost can be sent again.',
  caller: 'human',
  scope: byRole,
  params: ofOrganization,
  body: z
    .strictObject({
      version: z
        .int()
        .min(0)
        .meta({ description: 'The version that you read before; 0 for the first document.' }),
      rules: organizationRules,
    })
    .meta({ examples: [example] }),
  bodyRequired: true,
  responses: {
    200: { description: 'The document, with its new version.', schema: ruleDocumentRecord },
  },
  errors: ['version_conflict'],
});

export const tryRules = defineOperation({
  id: 'try_rules',
  sdk: { method: 'rules.try', repeatable: true },
  method: 'POST',
  path: '/v1/organizations/{organization_id}/rules:try',
  tag: 'Organizations',
  summary: 'Try rules over past calls',
  description:
    'Decides about past tool calls of the organization with the current rules and with a draft, and shows where they differ. Nothing is written and no input is shown. Calls of the newest runs come first; a page ends after 5,000 calls, or earlier when they are large or the rules are costly. Answers of people do not count, and the lists of agents are those of now. Calls that change nothing, and that no rule was about when they were made, are not stored, so they are not among them.',
  caller: 'human',
  scope: byRole,
  params: ofOrganization,
  body: ruleTrialBody.meta({ examples: [{ rules: example.rules }] }),
  bodyRequired: true,
  responses: { 200: { description: 'One page.', schema: ruleTrialRecord } },
  errors: ['invalid_cursor'],
});
