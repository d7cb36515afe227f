import { z } from 'zod';

/** D-201: only exact origins. A wildcard would let every page of the web try the tokens that it finds. */
export const corsOriginsSetting = {
  fallback: '',
  means: 'origins of pages that may use session tokens (CORS); none by default',
  format: 'origins such as `https://app.example`, separated by commas or spaces',
  role: 'api',
  read: z.string().transform((text, context): ReadonlySet<string> => {
    const entries = text.split(/[\s,]+/).filter((part) => part !== '');
    for (const entry of entries.filter((part) => !isOrigin(part))) {
      context.addIssue(`"${entry}" is not an origin such as https://app.example`);
    }
    return new Set(entries);
  }),
} as const;

/** As browsers write it in `Origin`: scheme, host in lower case, a port that is not the usual one, and nothing else. */
function isOrigin(entry: string): boolean {
  if (entry.includes('*') || !URL.canParse(entry)) return false;
  const { protocol, origin } = new URL(entry);
  return (protocol === 'https:' || protocol === 'http:') && origin === entry;
}
