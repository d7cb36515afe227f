import type {
  InitializeResponse,
  McpServer,
  SessionConfigOption,
  SessionModeState,
} from '@agentclientprotocol/sdk';
import { z } from 'zod';
import type { McpServers } from '../../agents/mcp-servers.ts';
import type { AcpSettings } from './settings.ts';

/** Common part of the responses to `session/new`, `session/resume` and `session/load`. */
export interface SessionAnswer {
  readonly modes?: SessionModeState | null;
  readonly configOptions?: readonly SessionConfigOption[] | null;
}

/** Sent by agents that predate the model as a config option. */
const namedModel = z.object({ models: z.looseObject({ currentModelId: z.string() }) });

/** Name of the current model, if the agent reports it. */
export function modelIn(answer: Pick<SessionAnswer, 'configOptions'>): string | undefined {
  const option = answer.configOptions?.find(
    ({ category, type }) => category === 'model' && type === 'select',
  );
  if (typeof option?.currentValue === 'string') return option.currentValue;
  return namedModel.safeParse(answer).data?.models.currentModelId;
}

export type ModeChange =
  | { readonly method: 'session/set_mode'; readonly params: { readonly modeId: string } }
  | {
      readonly method: 'session/set_config_option';
      readonly params: { readonly configId: string; readonly value: string };
    };

/** Request that sets the mode named in `agent.yaml`; `undefined` when the agent has no such mode. */
export function modeChange(mode: string, answer: SessionAnswer): ModeChange | undefined {
  if (answer.modes?.availableModes.some(({ id }) => id === mode) === true) {
    return { method: 'session/set_mode', params: { modeId: mode } };
  }
  const option = answer.configOptions?.find(({ category }) => category === 'mode');
  if (option === undefined) return undefined;
  return { method: 'session/set_config_option', params: { configId: option.id, value: mode } };
}

const envMethod = z.object({
  id: z.string(),
  type: z.literal('env_var'),
  vars: z.array(z.object({ name: z.string() })).min(1),
});

/** The authentication method to use: the configured one, else the first whose variables are in the agent's env. */
export function authMethodFor(
  { authMethods = [] }: InitializeResponse,
  { authMethod, env }: Pick<AcpSettings, 'authMethod' | 'env'>,
): string | undefined {
  if (authMethod !== undefined) return authMethod;
  return authMethods
    .flatMap((method) => envMethod.safeParse(method).data ?? [])
    .find(({ vars }) => vars.every(({ name }) => name in env))?.id;
}

/** MCP servers in the form of the protocol, without those whose transport the agent does not support. */
export function mcpServersFor(
  servers: McpServers,
  { agentCapabilities }: InitializeResponse,
): McpServer[] {
  const supports = agentCapabilities?.mcpCapabilities ?? {};
  return Object.entries(servers).flatMap(([name, server]): McpServer[] => {
    if ('url' in server) {
      const { type, url, headers } = server;
      return supports[type] === true ? [{ type, name, url, headers: pairs(headers) }] : [];
    }
    const { command, args, env } = server;
    return [{ name, command, args, env: pairs(env) }];
  });
}

function pairs(values: Readonly<Record<string, string>>): { name: string; value: string }[] {
  return Object.entries(values).map(([name, value]) => ({ name, value }));
}
