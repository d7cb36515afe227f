import { type AllowList, urlProblem } from '../../egress/allow-list.ts';
import type { AgentProblem, DeclaredAgent, ReadSettings } from '../../ports/harness.ts';

export interface A2aSettings {
  readonly url: URL;
  readonly env: Readonly<Record<string, string>>;
}

/** The variable in `env` whose value the remote agent gets as `Authorization: Bearer …`. */
export const tokenName = 'A2A_TOKEN';

export function readA2a(agent: DeclaredAgent, allow: AllowList): ReadSettings<A2aSettings> {
  const { url: address, env } = agent.declared;
  if (address === undefined) {
    const message = 'is missing: name the address of the agent, as in https://agents.example.com/a';
    return { ok: false, problems: [{ path: ['url'], message }] };
  }
  const url = new URL(address);
  const problem = urlProblem(url, allow);
  const problems: readonly AgentProblem[] = [
    ...(problem === undefined ? [] : [{ path: ['url'], message: problem }]),
    // The protocol has no approvals: the agent would make these calls without asking.
    ...(agent.approvalRequiredTools.length === 0
      ? []
      : [
          {
            path: ['approval_required_tools'],
            message: 'is not supported: a remote agent does not ask before its tool calls',
          },
        ]),
    ...Object.keys(env).flatMap((name) =>
      name === tokenName
        ? []
        : [
            {
              path: ['env', name],
              message: `has no effect: a remote agent gets ${tokenName} only; remove it`,
            },
          ],
    ),
  ];
  return problems.length > 0 ? { ok: false, problems } : { ok: true, settings: { url, env } };
}
