import { operations, scopeDescriptions } from '@convoke/contract';
import type { Agent } from '../../../domain/agent.ts';
import type { A2aVersion } from './rpc.ts';

export interface CardPlace {
  readonly baseUrl: string;
  readonly organizationId: string;
  readonly tenantId: string;
}

/** The scopes that calls of a client need, all in all. */
const cardScopes = ['runs:read', 'runs:write', 'sessions:write', 'interactions:write'] as const;
const schemeName = 'convoke';
/** Of agents with schemas. */
const modes = ['text/plain', 'application/json'];

/** The card of a published agent (D-233). It says nothing of the tenant beyond the address. */
export function cardOf(agent: Agent, place: CardPlace, version: A2aVersion) {
  const { baseUrl, organizationId, tenantId } = place;
  const url = `${baseUrl}/v1/a2a/${organizationId}/${tenantId}/${agent.name}`;
  const description = agent.description === '' ? agent.name : agent.description;
  const supportedInterfaces = (['1.0', '0.3'] as const).map((protocolVersion) => ({
    url,
    protocolBinding: 'JSONRPC',
    protocolVersion,
  }));
  const common = {
    name: agent.name,
    description,
    // Agents have no versions; the protocol asks for one.
    version: '1',
    supportedInterfaces,
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [
      {
        id: agent.name,
        name: agent.name,
        description,
        tags: ['convoke'],
        // A card has no place for the schemas.
        ...(agent.input !== undefined && { inputModes: modes }),
        ...(agent.output !== undefined && { outputModes: modes }),
      },
    ],
  };
  const scopes = Object.fromEntries(cardScopes.map((scope) => [scope, scopeDescriptions[scope]]));
  const tokenUrl = `${baseUrl}${operations.issue_token.path}`;
  const flows = { clientCredentials: { tokenUrl, scopes } };
  if (version === '1.0') {
    return {
      ...common,
      capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: false },
      securitySchemes: { [schemeName]: { oauth2SecurityScheme: { flows } } },
      securityRequirements: [{ schemes: { [schemeName]: { list: [...cardScopes] } } }],
    };
  }
  return {
    ...common,
    protocolVersion: '0.3.0',
    url,
    preferredTransport: 'JSONRPC',
    capabilities: { streaming: true, pushNotifications: false, stateTransitionHistory: false },
    supportsAuthenticatedExtendedCard: false,
    securitySchemes: { [schemeName]: { type: 'oauth2', flows } },
    security: [{ [schemeName]: [...cardScopes] }],
  };
}
