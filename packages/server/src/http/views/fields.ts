/** D-03: RFC 3339 UTC with milliseconds. */
export function timestamp(ms: number): string {
  return new Date(ms).toISOString();
}

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
  return optional(name, ms === null || ms === undefined ? undefined : timestamp(ms));
}
