import type { Json, JsonObject } from '../domain/json.ts';
import { type AgentYaml, mcpServerOf } from './agent-schema.ts';
import type { AgentProblem } from './problems.ts';
import { connectionsIn } from './secret-references.ts';

/** D-604: a reference to a service that `connections` does not name is a mistake, with its place. */
export function connectionProblems({
  connections,
  env,
  mcp_servers: servers = {},
}: Pick<AgentYaml, 'connections' | 'env' | 'mcp_servers'>): readonly AgentProblem[] {
  const undeclared = (path: AgentProblem['path'], services: readonly string[]) =>
    services.flatMap((service) =>
      Object.hasOwn(connections, service)
        ? []
        : [{ path, message: `refers to the connection ${service}: name it under connections` }],
    );
  const inTexts = (path: AgentProblem['path'], texts: Json | undefined) =>
    isObject(texts)
      ? Object.entries(texts).flatMap(([name, text]) =>
          typeof text === 'string' ? undeclared([...path, name], connectionsIn(text)) : [],
        )
      : [];
  return [
    ...undiscoverable({ connections, mcp_servers: servers }),
    ...inTexts(['env'], env),
    ...Object.entries(servers).flatMap(([name, server]) => {
      const path = ['mcp_servers', name];
      const { connection } = server;
      return [
        ...inTexts([...path, 'env'], server['env']),
        ...inTexts([...path, 'headers'], server['headers']),
        ...(typeof connection === 'string'
          ? [
              ...undeclared([...path, 'connection'], [connection]),
              ...besideHeader([...path, 'headers'], server['headers']),
            ]
          : []),
      ];
    }),
  ];
}

/** D-605: endpoints that are not declared are those that an MCP server names. */
function undiscoverable({
  connections,
  mcp_servers: servers,
}: Pick<AgentYaml, 'connections' | 'mcp_servers'>): AgentProblem[] {
  return Object.entries(connections)
    .filter(([service, { oauth }]) => {
      const isDeclared = oauth === undefined || oauth.authorization_endpoint !== undefined;
      return !isDeclared && mcpServerOf(service, servers) === undefined;
    })
    .map(([service]) => ({
      path: ['connections', service, 'oauth'],
      message: `needs client_id, authorization_endpoint and token_endpoint, or an entry of mcp_servers with a url and "connection: ${service}", which names them`,
    }));
}

/** The connection sends this header itself. */
function besideHeader(path: AgentProblem['path'], headers: Json | undefined): AgentProblem[] {
  if (!isObject(headers)) return [];
  return Object.keys(headers)
    .filter((name) => name.toLowerCase() === 'authorization')
    .map((name) => ({
      path: [...path, name],
      message: 'cannot be combined with connection, which authorizes the requests',
    }));
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
