import { agentRoles, agents, usualName } from './agents.ts';

const roles = agentRoles
  .map((role) => `  ${role.padEnd(8)} ${usualName(role).padEnd(20)} ${agents[role].does}`)
  .join('\n');

export const help = `Checks a service from outside against the specification of the agent invocation API.

Usage: npx @convoke/conformance --base-url URL [option …]

The service
  --base-url URL            origin of the service (or CONVOKE_BASE_URL)
  --client-id ID            automation client (or CONVOKE_CLIENT_ID)
  --client-secret SECRET    its secret (or CONVOKE_CLIENT_SECRET, which no other process can see)
  --access-token TOKEN      a token instead of id and secret
  --owner-token TOKEN       token of an owner: adds management and isolation, with clients and tenants
                            that the kit makes and removes (or CONVOKE_OWNER_TOKEN)
  --organization-id ID      the workspace to use; without it the first that the client reaches
  --tenant-id ID            (or CONVOKE_CLIENT_TENANT_ID)
  --agents ROLE=NAME,…      names of the agents below
  --dialect FILE            JSON with what the specification does not show; --print-dialect prints the default
  --restart COMMAND         stops the server and exits when it is back: adds durability

The checks
  --level convoke           also checks what Convoke decided where the specification is silent
  --only ID,…               only requirements whose id begins so
  --expected-failures FILE  requirements that fail, one a line with a reason; one that passes is stale
  --time-limit SECONDS      after which no check begins (180)

The report
  --json FILE               as JSON; - is standard output, instead of the text
  --junit FILE              as JUnit's XML

Instead of checks
  --write-agents DIR        writes the agents as folders for Convoke
  --list                    lists the requirements
  --print-dialect           prints the default dialect
  --version, --help

Exit status: 0 conforming; 1 a requirement failed, or an expected failure is stale; 2 wrong usage, or no service.

Agents, their usual names and what they do:
${roles}
`;
