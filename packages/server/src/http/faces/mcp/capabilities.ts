import { randomBytes } from 'node:crypto';
import { type JsonObject, isObject } from '../../../domain/json.ts';

/** How a client can ask its user. */
export interface AskingMeans {
  readonly forms: boolean;
  readonly urls: boolean;
}

export function meansOf({ elicitation }: JsonObject): AskingMeans {
  if (!isObject(elicitation)) return { forms: false, urls: false };
  const urls = isObject(elicitation['url']);
  // A client that declares elicitation without a mode has forms.
  return { forms: isObject(elicitation['form']) || !urls, urls };
}

/**
 * Names the client for itself, and keeps what it said of itself in `initialize` (D-614): the server keeps nothing, and
 * the client returns it with every request.
 */
export function newClientId(capabilities: JsonObject): string {
  return `mcp_${randomBytes(15).toString('base64url')}.${flagsOf(meansOf(capabilities))}`;
}

export function meansOfClient(id: string | undefined): AskingMeans {
  return meansOfFlags(/^mcp_[\w-]{1,40}\.([fu]{0,2})$/.exec(id ?? '')?.[1] ?? '');
}

export function flagsOf({ forms, urls }: AskingMeans): string {
  return `${forms ? 'f' : ''}${urls ? 'u' : ''}`;
}

export function meansOfFlags(flags: string): AskingMeans {
  const [without, withUrls] = flags.includes('f') ? withForms : withoutForms;
  return flags.includes('u') ? withUrls : without;
}

/** Each once: every call that waits refers to one. Without and with links. */
const withForms = [
  { forms: true, urls: false },
  { forms: true, urls: true },
] as const;
const withoutForms = [
  { forms: false, urls: false },
  { forms: false, urls: true },
] as const;
