import { z } from 'zod';

/** One environment variable that the server reads. */
export interface Setting {
  /** The text that is read when the variable is absent or empty. */
  readonly fallback: string;
  /** One line for `--help`, for error messages and for docs/reference/settings.md. */
  readonly means: string;
  /** The values that `read` accepts, for docs/reference/settings.md. */
  readonly format: string;
  /** The role of the servers that use it. */
  readonly role: 'api' | 'worker' | 'both';
  readonly read: z.ZodType<unknown, string>;
}

/** The values of a table of settings, by name. */
export type SettingValues<Table extends Readonly<Record<string, Setting>>> = <
  Name extends keyof Table,
>(
  name: Name,
) => z.infer<Table[Name]['read']>;

export function wholeNumber(least: number, most: number) {
  const problem = `must be a whole number from ${least} to ${most}`;
  return {
    format: `whole number from ${least} to ${most}`,
    read: z
      .string()
      .regex(/^\d+$/, problem)
      .transform(Number)
      .refine((number) => number >= least && number <= most, problem),
  } as const;
}

export function oneOf<const Values extends readonly [string, ...string[]]>(values: Values) {
  return {
    format: values.map((value) => `\`${value}\``).join(', '),
    read: z.enum(values),
  } as const;
}

export function optionalUrl(protocols: readonly string[]) {
  const starts = protocols.map((protocol) => `${protocol}//`);
  return {
    format: `address that starts with ${starts.map((start) => `\`${start}\``).join(' or ')}`,
    read: z
      .string()
      .refine(
        (text) => text === '' || (URL.canParse(text) && protocols.includes(new URL(text).protocol)),
        `must be an address that starts with ${starts.join(' or ')}`,
      )
      .transform((text) => (text === '' ? undefined : text)),
  } as const;
}

const webAddress = optionalUrl(['http:', 'https:']);

/** Spec §1: every path starts with `/v1`, so an address that ends with it would say it twice. */
export const baseUrl = {
  ...webAddress,
  read: webAddress.read.refine(
    (url) => url === undefined || !/\/v1\/*$/.test(url),
    'must not end with /v1, which is part of every path',
  ),
} as const;
