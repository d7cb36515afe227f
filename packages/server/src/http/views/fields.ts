import { idPrefixes } from '@convoke/contract';
import type { Names } from '../../app/actor-names.ts';
import { isoTime } from '../../domain/iso-time.ts';

// A view writes a field without a value as undefined, which JSON leaves out: null is not in the API, and spreading a
// field in only if it is there would take longer than all the rest.

export function timeIn(ms: number | null | undefined): string | undefined {
  return ms === null || ms === undefined ? undefined : isoTime(ms);
}

interface ActorRecord {
  readonly kind: 'client' | 'person';
  readonly id: string;
  readonly name?: string | undefined;
}

export function actorView(id: string | null, names: Names): ActorRecord | undefined {
  if (id === null) return undefined;
  const kind = id.startsWith(`${idPrefixes.user}_`) ? 'person' : 'client';
  return { kind, id, name: names.get(id) };
}
