import { z } from 'zod';
import { type IdKind, idPrefixes } from '../ids.ts';

/** An id in a response. Clients treat it as opaque and store it unchanged (spec §1). */
export function opaqueId(kind: IdKind) {
  return z.string().meta({ examples: [`${idPrefixes[kind]}_01ja3w8z5kq4v7m2x9c6t1r8en`] });
}
