import type { Json, JsonObject } from './generated/values.ts';

/** What an agent takes and returns. `convoke agents types` writes those of your agents from their schemas. */
export interface AgentType {
  readonly input: object;
  readonly output: unknown;
}

/** The agents of a client, each by its name. */
export type AgentTypes<Agents> = { readonly [Name in keyof Agents]: AgentType };

/** An agent of which nothing is known. */
export interface AnyAgent {
  readonly input: JsonObject;
  readonly output: Json;
}

/** What a client expects that is not told about agents: any name, any input, any output. */
export type AnyAgents = Readonly<Record<string, AnyAgent>>;

/** The complete input of an agent, or just a prompt if that is enough for it. */
export type InputOf<Type extends AgentType> =
  | Type['input']
  | ({ prompt: string } extends Type['input'] ? string : never);
