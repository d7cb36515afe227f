import { limits } from '@convoke/contract';
import { z } from 'zod';
import { type AskingMeans, flagsOf, meansOfFlags } from './capabilities.ts';
import type { RpcId } from './failure.ts';

/** What a stream needs to continue at any server. Its client returns it as the id of the last event (D-616). */
export interface StreamPlace {
  readonly runId: string;
  /** The request that the stream answers. */
  readonly rpcId: RpcId;
  readonly means: AskingMeans;
  /** The interaction that the client is asking its user about. */
  readonly asked: string | undefined;
}

const maxCharacters = 2048;
const text = z.string().max(limits.nameMaxCharacters);
const place = z.tuple([text, z.union([text, z.int()]), text, text]);

export function eventIdOf({ runId, rpcId, means, asked = '' }: StreamPlace): string {
  const fields = [runId, rpcId, flagsOf(means), asked];
  return Buffer.from(JSON.stringify(fields)).toString('base64url');
}

/** Undefined for an id that the server did not make. What it names is checked with the caller's rights. */
export function placeIn(eventId: string): StreamPlace | undefined {
  if (eventId.length > maxCharacters) return undefined;
  const read = place.safeParse(parsed(Buffer.from(eventId, 'base64url').toString()));
  if (!read.success) return undefined;
  const [runId, rpcId, flags, asked] = read.data;
  return {
    runId,
    rpcId,
    means: meansOfFlags(flags),
    asked: asked === '' ? undefined : asked,
  };
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
