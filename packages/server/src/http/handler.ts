import type { IncomingMessage, ServerResponse } from 'node:http';
import type { OperationId, OperationInput, OperationResult, Operations } from '@convoke/contract';
import type { AnyCaller } from '../auth/gate.ts';
import type { ApplicationCaller, HumanCaller } from '../domain/access.ts';

/**
 * The handlers between the wire and the use cases. A handler takes a parsed call, calls one use case and returns a view
 * of the result; it contains no rules and no SQL. Each declared operation has exactly one: a missing one does not
 * compile.
 */
export type Handlers<Ids extends OperationId = OperationId> = {
  readonly [Id in Ids]: (call: Call<Id>) => Promise<Reply<Id>> | Reply<Id>;
};

export type Call<Id extends OperationId> = OperationInput<Operations[Id]> & {
  readonly caller: CallerOf<Operations[Id]['caller']>;
  readonly request: RequestFacts;
  /** Throws `rate_limited` when the caller has spent its rate; a replayed key never asks (D-57). */
  readonly chargeRate: () => void;
};

export interface RequestFacts {
  readonly id: string;
  /** The caller's address, for limits and audit (`caller-address.ts`). */
  readonly address: string;
  readonly raw: IncomingMessage;
}

interface Callers {
  automation: ApplicationCaller;
  human: HumanCaller;
  any: AnyCaller;
  anonymous: undefined;
}

type CallerOf<Kind extends keyof Callers> = Callers[Kind];

export type Reply<Id extends OperationId> =
  | (OperationResult<Operations[Id]> & { readonly headers?: Readonly<Record<string, string>> })
  | RawReply;

/** A reply that writes itself: bytes, pages, event streams. */
export interface RawReply {
  /** Writes the whole response. `headers` are those of every response. */
  write(response: ServerResponse, headers: Readonly<Record<string, string>>): Promise<void>;
}
