import { idPrefixes } from '@convoke/contract';
import type { Names } from '../../app/actor-names.ts';
import { isoTime } from '../../domain/iso-time.ts';

/** An optional field is absent rather than null. */
export function optional<Name extends string, Value>(
  name: Name,
  value: Value | null | undefined,
): { [Key in Name]?: Value } {
  return value === null || value === undefined
    ? {}
    : ({ [name]: value } as { [Key in Name]?: Value });
}

export function optionalTime<Name extends string>(
  name: Name,
  ms: number | null | undefined,
): { [Key in Name]?: string } {
  return optional(name, ms === null || ms === undefined ? undefined : isoTime(ms));
}

/** The field that names who made something. Rows of an older server do not know it. */
export function createdByView(id: string | null, names: Names): { created_by?: ActorRecord } {
  return optional('created_by', actorView(id, names));
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
