import { type AllowList, urlProblem } from '../../egress/allow-list.ts';
import type { AgentProblem, DeclaredAgent, ReadSettings } from '../../ports/harness.ts';

export interface A2aSettings {
  readonly url: URL;
  readonly env: Readonly<Record<string, string>>;
}

/** The variable in `env` whose value the remote agent gets as `Authorization: Bearer …`. */
export const tokenName = 'A2A_TOKEN';
/** Credentials of a client, for which the server gets tokens where the agent's card says so (D-441). */
export const clientIdName = 'A2A_CLIENT_ID';
export const clientSecretName = 'A2A_CLIENT_SECRET';
const known = [tokenName, clientIdName, clientSecretName];

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
    ...(agent.approvalRequiredTools.length > 0 ? [unsupported('approval_required_tools')] : []),
    ...(agent.rules.length > 0 ? [unsupported('rules')] : []),
    ...envProblems(Object.keys(env)),
  ];
  return problems.length > 0 ? { ok: false, problems } : { ok: true, settings: { url, env } };
}

function unsupported(key: string): AgentProblem {
  const message = 'is not supported: a remote agent does not ask before its tool calls';
  return { path: [key], message };
}

function envProblems(names: readonly string[]): readonly AgentProblem[] {
  const problems = names
    .filter((name) => !known.includes(name))
    .map((name) => ({
      path: ['env', name],
      message: `has no effect: a remote agent gets ${tokenName}, or a token for ${clientIdName} and ${clientSecretName}; remove it`,
    }));
  const [hasToken, hasId, hasSecret] = known.map((name) => names.includes(name));
  if (hasId !== hasSecret) {
    const missing = hasId === true ? clientSecretName : clientIdName;
    const other = hasId === true ? clientIdName : clientSecretName;
    problems.push({ path: ['env'], message: `has no ${missing}, which ${other} needs` });
  }
  if (hasToken === true && hasId === true) {
    const message = `has both ${tokenName} and ${clientIdName}: name one of them`;
    problems.push({ path: ['env'], message });
  }
  return problems;
}
