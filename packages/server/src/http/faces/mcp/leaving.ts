import { hash } from 'node:crypto';
import {
  type InteractionKey,
  type SessionId,
  idPattern,
  interactionKey,
  sessionId,
} from '@convoke/contract';
import type { Offer } from '../../../app/faces/mcp/tools.ts';
import type { ApplicationCaller } from '../../../domain/access.ts';
import type { Run } from '../../../domain/run/run.ts';
import type { TenantScope } from '../../../domain/scope.ts';
import type { Topic } from '../../../ports/fanout.ts';
import type { RequestFacts } from '../../handler.ts';
import type { RpcId } from './failure.ts';

/** The caller of a request, and the settings of its address. */
export interface McpCaller {
  readonly caller: ApplicationCaller;
  readonly request: RequestFacts;
  readonly chargeRate: () => void;
  readonly offer: Offer;
  /** As the client returns it from `initialize`. */
  readonly clientId: string | undefined;
  readonly waitMs: number;
}

/**
 * Wakes the call that waits for the response with this id. Without a name of its own a client cannot be told from
 * others.
 */
export function topicOfCall({ caller, clientId }: McpCaller, id: RpcId): Topic | undefined {
  const { scope, subject } = caller;
  return clientId === undefined
    ? undefined
    : topicOf([scope.tenantId, subject, clientId, typeof id, String(id)]);
}

/** Wakes the call that shows a form about this interaction. */
export function topicOfAsk({ tenantId }: Pick<TenantScope, 'tenantId'>, key: string): Topic {
  return topicOf([tenantId, key]);
}

/** Of a bounded length, whatever a client sends. */
function topicOf(parts: readonly string[]): Topic {
  return `left:${hash('sha256', JSON.stringify(parts), 'base64url')}`;
}

/** The id of the request that asks about an interaction. Its response comes alone, so it says where that is. */
export function askedOf({ sessionId: session }: Pick<Run, 'sessionId'>, key: string): string {
  return `${session}/${key}`;
}

export function askedIn(
  id: RpcId,
): { readonly sessionId: SessionId; readonly key: InteractionKey } | undefined {
  const [session = '', key = '', ...rest] = String(id).split('/');
  if (!idPattern.test(session) || !idPattern.test(key) || rest.length > 0) return undefined;
  return { sessionId: sessionId(session), key: interactionKey(key) };
}
