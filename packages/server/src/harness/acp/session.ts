import type {
  InitializeResponse,
  McpServer,
  SessionConfigOption,
  SessionModeState,
} from '@agentclientprotocol/sdk';
import { z } from 'zod';
import type { McpServers } from '../../agents/mcp-servers.ts';
import type { AcpSettings } from './settings.ts';

/** What `session/new`, `session/resume` and `session/load` say alike. */
export interface SessionAnswer {
  readonly modes?: SessionModeState | null;
  readonly configOptions?: readonly SessionConfigOption[] | null;
}

/** Said by agents of before the time when a model was one of their options. */
const namedModel = z.looseObject({ models: z.looseObject({ currentModelId: z.string() }) });

/** What the agent calls the model it is set to; it need not say. */
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

/** How the agent is put into the mode its `agent.yaml` names; `undefined` when it offers none of that name. */
export function modeChange(mode: string, answer: SessionAnswer): ModeChange | undefined {
  if (answer.modes?.availableModes.some(({ id }) => id === mode) === true) {
    return { method: 'session/set_mode', params: { modeId: mode } };
  }
  const option = answer.configOptions?.find(({ category }) => category === 'mode');
  if (option === undefined) return undefined;
  return { method: 'session/set_config_option', params: { configId: option.id, value: mode } };
}

const envMethod = z.looseObject({
  id: z.string(),
  type: z.literal('env_var'),
  vars: z.array(z.looseObject({ name: z.string() })).min(1),
});

/** The way of authentication to use: the one that was named, else one whose variables the agent has. */
export function authMethodFor(
  { authMethods = [] }: InitializeResponse,
  { authMethod, env }: Pick<AcpSettings, 'authMethod' | 'env'>,
): string | undefined {
  if (authMethod !== undefined) return authMethod;
  return authMethods
    .flatMap((method) => envMethod.safeParse(method).data ?? [])
    .find(({ vars }) => vars.every(({ name }) => name in env))?.id;
}

/** In the form the protocol has for them; those the agent cannot reach are left out. */
export function mcpServersFor(
  servers: McpServers,
  { agentCapabilities }: InitializeResponse,
): McpServer[] {
  const reaches = agentCapabilities?.mcpCapabilities ?? {};
  return Object.entries(servers).flatMap(([name, server]): McpServer[] => {
    if ('url' in server) {
      const { type, url, headers } = server;
      return reaches[type] === true ? [{ type, name, url, headers: named(headers) }] : [];
    }
    const { command, args, env } = server;
    return [{ name, command, args, env: named(env) }];
  });
}

function named(values: Readonly<Record<string, string>>): { name: string; value: string }[] {
  return Object.entries(values).map(([name, value]) => ({ name, value }));
}
