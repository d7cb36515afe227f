import { type FileHandle, open } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import type { LegConnections } from '../ports/connections/leg-connections.ts';
import { errorCode } from '../runtime/error-code.ts';

/**
 * References to secrets in an `agent.yaml`: `${env:NAME}` is an environment variable of the server, `${file:/path}` a
 * file that only the server's user may read. They are resolved when a leg starts, and the values go only to the
 * adapter that asked: not into a prompt, an event or a log.
 */
export type ResolvedSecrets =
  | {
      readonly ok: true;
      readonly values: Readonly<Record<string, string>>;
      readonly redact: Redact;
    }
  | { readonly ok: false; readonly message: string };

/** Replaces secrets in a text before it is shown or logged. */
export interface Redact {
  (text: string): string;
  /** Length of the end of the text that may be the beginning of a secret. */
  unsure(text: string): number;
}

/** Stands for a secret that was removed. */
export const hiddenSecret = '[secret]';

const fileBytesMax = 64 * 1024;
const reference = /\$\{(env|file|connection):([^}]*)\}/g;

/** Where references lead. */
export interface ReferenceSources {
  /** Absent where no leg runs, or for an agent that declares none: a text with such a reference is then left out. */
  readonly connections?: Pick<LegConnections, 'atStart'> | undefined;
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** A text that refers to an account that is missing, and need not be there, is not among the values. */
export async function resolveReferences(
  texts: Readonly<Record<string, string>>,
  { connections, environment = process.env }: ReferenceSources = {},
): Promise<ResolvedSecrets> {
  const values: Record<string, string> = {};
  const secrets: string[] = [];
  const read = async (
    kind: string | undefined,
    target: string,
  ): Promise<FoundSecret | 'absent'> => {
    if (kind === 'env') return readVariable(target, environment);
    if (kind === 'file') return readSecretFile(target);
    const account = connections?.atStart(target);
    return account === undefined ? 'absent' : { secret: account.secret };
  };
  texts: for (const [name, text] of Object.entries(texts)) {
    const parts: string[] = [];
    let from = 0;
    for (const match of text.matchAll(reference)) {
      const [whole, kind, target = ''] = match;
      const found = await read(kind, target);
      if (found === 'absent') continue texts;
      if ('reason' in found) {
        return { ok: false, message: `${name} refers to ${whole}, but ${found.reason}.` };
      }
      secrets.push(found.secret);
      parts.push(text.slice(from, match.index), found.secret);
      from = match.index + whole.length;
    }
    values[name] = parts.join('') + text.slice(from);
  }
  return { ok: true, values, redact: redactor(secrets) };
}

/** The services whose accounts the text refers to. */
export function connectionsIn(text: string): readonly string[] {
  return Array.from(text.matchAll(reference)).flatMap(([, kind, name = '']) =>
    kind === 'connection' ? [name] : [],
  );
}

/** Names of the environment variables that the texts refer to and the server does not have (D-340). */
export function missingVariables(
  texts: readonly string[],
  environment: Readonly<Record<string, string | undefined>> = process.env,
): readonly string[] {
  const named = texts
    .flatMap((text) => [...text.matchAll(reference)])
    .flatMap(([, kind, name = '']) => (kind === 'env' ? [name] : []));
  const missing = named.filter((name) => !isSetting(name) && (environment[name] ?? '') === '');
  return [...new Set(missing)].sort((a, b) => (a < b ? -1 : 1));
}

/** Agents do not need the server's own settings, and some of those are its keys. */
function isSetting(variable: string): boolean {
  return variable.startsWith('CONVOKE_');
}

type FoundSecret = { readonly secret: string } | { readonly reason: string };

function readVariable(
  name: string,
  environment: Readonly<Record<string, string | undefined>>,
): FoundSecret {
  if (isSetting(name))
    return { reason: 'agents cannot read the settings of the server (CONVOKE_*)' };
  const secret = environment[name];
  return secret === undefined || secret === ''
    ? { reason: 'the server has no such environment variable' }
    : { secret };
}

async function readSecretFile(path: string): Promise<FoundSecret> {
  if (!isAbsolute(path)) return { reason: 'its path is not absolute' };
  let handle: FileHandle | undefined;
  try {
    handle = await open(path);
    const stats = await handle.stat();
    if (!stats.isFile()) return { reason: 'it is not a file' };
    if ((stats.mode & 0o077) !== 0)
      return { reason: 'other users may read it; run chmod 600 on it' };
    if (stats.size > fileBytesMax) return { reason: `it is larger than ${fileBytesMax} bytes` };
    const secret = (await handle.readFile('utf8')).replace(/\r?\n$/, '');
    return secret === '' ? { reason: 'it is empty' } : { secret };
  } catch (error) {
    const code = errorCode(error) ?? 'unknown';
    return { reason: `it cannot be read (${code})` };
  } finally {
    await handle?.close();
  }
}

/** Shorter secrets are not redacted: they occur in ordinary words too. */
const redactedCharsMin = 6;

/** Redacts each secret in its plain form and as JSON and URLs encode it. */
export function redactor(secrets: Iterable<string>): Redact {
  const forms = [...secrets]
    .filter((secret) => secret.length >= redactedCharsMin)
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]);
  // One secret may be part of another, so the longer goes first.
  const ordered = [...new Set(forms)].sort((a, b) => b.length - a.length);
  const redact = (text: string) =>
    ordered.reduce((rest, form) => rest.replaceAll(form, hiddenSecret), text);
  const unsure = (text: string) => Math.max(0, ...ordered.map((form) => overlap(text, form)));
  return Object.assign(redact, { unsure });
}

/** Applies several redactors one after the other. */
export function redactAll(redactors: readonly Redact[]): Redact {
  const redact = (text: string) => redactors.reduce((rest, each) => each(rest), text);
  const unsure = (text: string) => Math.max(0, ...redactors.map((each) => each.unsure(text)));
  return Object.assign(redact, { unsure });
}

/** Length of the longest end of the text with which the secret begins. */
function overlap(text: string, secret: string): number {
  const longest = Math.min(text.length, secret.length - 1);
  for (let length = longest; length > 0; length -= 1) {
    if (text.endsWith(secret.slice(0, length))) return length;
  }
  return 0;
}

const secretForms = [
  /^(sk|pk|rk)[-_][A-Za-z0-9_-]{16,}$/,
  /^gh[pousr]_[A-Za-z0-9]{20,}$/,
  /^xox[abpr]-/,
  /^(AKIA|ASIA)[0-9A-Z]{16}$/,
  /^AIza[A-Za-z0-9_-]{30,}$/,
  /^eyJ[\w-]{10,}\.[\w-]{10,}\./,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  // Long, with lower case, upper case and digits: generated.
  /^(?=.*[a-z])(?=.*[A-Z])(?=.*\d)[A-Za-z0-9+/_-]{32,}={0,2}$/,
];

/** Names of the variables in an agent's `env` whose values look like secrets instead of references. */
export function literalSecrets(env: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(env).flatMap(([name, value]) =>
    secretForms.some((form) => form.test(value)) ? [name] : [],
  );
}
