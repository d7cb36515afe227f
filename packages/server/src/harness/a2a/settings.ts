import { z } from 'zod';
import type { Agent } from '../../domain/agent.ts';
import type { AgentProblem } from '../../ports/harness.ts';
import { type AllowList, urlProblem } from './allow-list.ts';

/** The shape is the one `agent-schema.ts` gave it; what is absent was made by hand. */
const settingsSchema = z.looseObject({
  url: z.url().transform((text) => new URL(text)),
  env: z.record(z.string(), z.string()).default({}),
});
export type A2aSettings = z.infer<typeof settingsSchema>;

/** The name in `env` of what the remote agent gets as `Authorization: Bearer …`. */
export const tokenName = 'A2A_TOKEN';

/** What is wrong with a remote agent, for the registry to report when it reads the folder. */
export function checkA2a(agent: Agent, allow: AllowList): readonly AgentProblem[] {
  const parsed = settingsSchema.safeParse(agent.settings);
  if (!parsed.success) {
    return [
      {
        path: ['url'],
        message: 'is needed: where the agent is, as in https://agents.example.com/a',
      },
    ];
  }
  const problem = urlProblem(parsed.data.url, allow);
  return [
    ...(problem === undefined ? [] : [{ path: ['url'], message: problem }]),
    // The protocol has no such thing: what was meant to be gated would not be.
    ...(agent.approvalRequiredTools.length === 0
      ? []
      : [
          {
            path: ['approval_required_tools'],
            message: 'cannot be kept: what a remote agent does is not asked for here',
          },
        ]),
    ...Object.keys(parsed.data.env).flatMap((name) =>
      name === tokenName
        ? []
        : [{ path: ['env', name], message: `has no use: a remote agent gets ${tokenName} only` }],
    ),
  ];
}

/** The settings of an agent that the registry accepted. */
export function settingsOf(agent: Agent): A2aSettings {
  return settingsSchema.parse(agent.settings);
}
