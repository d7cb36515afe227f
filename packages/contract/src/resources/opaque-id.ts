import { z } from 'zod';
import { type IdKind, exampleId } from '../ids.ts';

/** An id in a response. Clients treat it as opaque and store it unchanged (spec §1). */
export function opaqueId(kind: IdKind) {
  return z.string().meta({ examples: [exampleId(kind)] });
}
