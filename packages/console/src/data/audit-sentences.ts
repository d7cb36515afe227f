import type { AuditRecord } from '@convoke/sdk';
import { shortId } from './formats.ts';
import type { PageOf } from './pages.ts';

/** What an action did, to be read between the actor and the object. */
const verbs: Readonly<Record<string, string>> = {
  'access.deny': 'was denied access to',
  'audit.seal': 'sealed the log',
  'budget.create': 'created budget',
  'budget.delete': 'deleted budget',
  'budget.update': 'changed budget',
  'client.create': 'created client',
  'client.delete': 'deleted client',
  'client.disable': 'disabled client',
  'client.enable': 'enabled client',
  'client.update': 'changed client',
  'credential.add': 'added credential',
  'credential.revoke': 'revoked credential',
  'interaction.answer': 'answered request',
  'invitation.accept': 'accepted invitation',
  'invitation.create': 'created invitation',
  'invitation.revoke': 'revoked invitation',
  'keys.revoke': 'revoked signing key',
  'keys.rotate': 'rotated the signing key',
  'member.add': 'added member',
  'member.link': 'created a sign-in link for',
  'member.name': 'changed their name',
  'member.password': 'changed the password of',
  'member.remove': 'removed member',
  'member.role': 'changed the role of',
  'member.sign_in': 'signed in',
  'member.sign_out': 'signed out',
  'organization.create': 'created the organization',
  'schedule.create': 'created schedule',
  'schedule.delete': 'deleted schedule',
  'schedule.pause': 'paused schedule',
  'schedule.resume': 'resumed schedule',
  'schedule.run': 'ran schedule',
  'schedule.update': 'changed schedule',
  'session_token.issue': 'created a token for a session',
  'tenant.create': 'created tenant',
  'tenant.offboard': 'offboarded tenant',
  'tenant.retry': 'retried the setup of tenant',
  'token.exchange': 'opened the console',
  'token.issue': 'got a token',
  'webhook.create': 'created webhook',
  'webhook.delete': 'deleted webhook',
  'webhook.disable': 'disabled webhook',
  'webhook.replay': 'resent a delivery of webhook',
  'webhook.rotate': 'rotated the secret of webhook',
  'webhook.update': 'changed webhook',
};

/** Actions about the actor alone: the object would say nothing more. */
const withoutObject = new Set([
  'audit.seal',
  'keys.rotate',
  'member.name',
  'member.sign_in',
  'member.sign_out',
  'organization.create',
  'session_token.issue',
  'token.exchange',
  'token.issue',
]);

/** An action alone, as a filter names it. */
export function actionName(action: string): string {
  const words = verbs[action] ?? action;
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}

const longId = /^[a-z]+_[0-9a-z]{20,}$/;

/**
 * A row of the audit log as a sentence. An action without a verb keeps its name. `nameOf` is what the page knows about the
 * object where the row says only its id.
 */
export function auditSentence(
  { actor, action, object, details }: AuditRecord,
  nameOf: (id: string) => string | undefined = () => undefined,
): string {
  const who = actor.name ?? (actor.id === '' ? 'The server' : actor.id);
  if (action === 'interaction.answer') return `${who} ${answerWords(details)}`;
  if (action === 'invitation.create' && typeof details['role'] === 'string') {
    return `${who} invited ${nameIn(details) ?? 'anyone with the link'} as ${details['role']}`;
  }
  const verb = verbs[action] ?? action;
  const what = nameIn(details) ?? nameOf(object) ?? object.replace(longId, shortId);
  return withoutObject.has(action) || what === '' ? `${who} ${verb}` : `${who} ${verb} ${what}`;
}

/** `allowed write_file in run_01ja…r8en` */
function answerWords({ decision, tool_name: tool, run_id: run }: AuditRecord['details']): string {
  const where = typeof run === 'string' ? ` in ${shortId(run)}` : '';
  const what = typeof tool === 'string' ? tool : 'a request';
  if (decision === 'allow') return `allowed ${what}${where}`;
  return decision === 'deny' ? `denied ${what}${where}` : `answered a question${where}`;
}

/** What the object is called, where the row says it. */
function nameIn(details: AuditRecord['details']): string | undefined {
  const {
    name,
    display_name: displayName,
    email,
    origin,
    scope_kind: kind,
    scope_id: id,
  } = details;
  const scope =
    typeof kind === 'string' && typeof id === 'string' ? `for ${kind} ${id}` : undefined;
  return [name, displayName, email, origin, scope].find((text) => typeof text === 'string');
}

/** Rows about tokens are written on each load of a page, and hide the others. */
function isTokenRow({ action }: Pick<AuditRecord, 'action'>): boolean {
  return action.startsWith('token.') || action.startsWith('session_token.');
}

/** Enough rows for a page without tokens, and the pages that are searched for them. */
const enoughRows = 20;
const maxSearched = 10;

/** Every visit of the console adds rows about tokens: pages are read until there are others to show. */
export async function withoutTokens<Row extends Pick<AuditRecord, 'action'>>(
  read: (cursor: string | undefined) => Promise<PageOf<Row>>,
  cursor: string | undefined,
): Promise<PageOf<Row>> {
  const items: Row[] = [];
  let nextCursor = cursor;
  for (let pages = 0; pages < maxSearched; pages += 1) {
    const page = await read(nextCursor);
    items.push(...page.items.filter((row) => !isTokenRow(row)));
    ({ nextCursor } = page);
    if (nextCursor === undefined || items.length >= enoughRows) break;
  }
  return { items, nextCursor };
}
