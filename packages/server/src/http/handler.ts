import type { IncomingMessage, ServerResponse } from 'node:http';
import type { OperationId, OperationInput, OperationResult, Operations } from '@convoke/contract';
import type { AnyCaller } from '../auth/gate.ts';
import type { AutomationCaller, HumanCaller } from '../domain/access.ts';

/**
 * What stands between the wire and a use case. A handler unwraps a parsed call, calls one use case and
 * presents its result; it holds no rule and no SQL. There is exactly one per declared operation: a
 * missing one does not compile.
 */
export type Handlers<Ids extends OperationId = OperationId> = {
  readonly [Id in Ids]: (call: Call<Id>) => Promise<Reply<Id>> | Reply<Id>;
};

export type Call<Id extends OperationId> = OperationInput<Operations[Id]> & {
  readonly caller: CallerOf<Operations[Id]['caller']>;
  readonly request: RequestFacts;
  /** Throws `rate_limited` when the caller has spent its rate; a replayed key never asks (D-57). */
  readonly admit: () => void;
};

export interface RequestFacts {
  readonly id: string;
  /** The caller's address, for limits and audit (`caller-address.ts`). */
  readonly address: string;
  readonly raw: IncomingMessage;
}

interface Callers {
  automation: AutomationCaller;
  human: HumanCaller;
  any: AnyCaller;
  anonymous: undefined;
}

type CallerOf<Kind extends keyof Callers> = Callers[Kind];

export type Reply<Id extends OperationId> =
  | (OperationResult<Operations[Id]> & { readonly headers?: Readonly<Record<string, string>> })
  | RawReply;

/** For bodies that are not one JSON value: bytes, pages, event streams. */
export interface RawReply {
  /** Writes the whole response. `headers` are the ones every response carries. */
  write(response: ServerResponse, headers: Readonly<Record<string, string>>): Promise<void>;
}
