import type { AuditRecord } from './generated/records.ts';

/** What an action did, to be read between the actor and the object. */
const verbs: Readonly<Record<string, string>> = {
  'access.deny': 'was denied access to',
  'audit.seal': 'sealed the log',
  'budget.create': 'created budget',
  'budget.delete': 'deleted budget',
  'budget.update': 'changed budget',
  'call.allow': 'allowed',
  'call.deny': 'denied',
  'client.create': 'created client',
  'client.delete': 'deleted client',
  'client.disable': 'disabled client',
  'client.enable': 'enabled client',
  'client.update': 'changed client',
  'connection.delete': 'disconnected the account for',
  'connection.connect': 'signed in for the account for',
  'connection.expire': 'marked as expired the account for',
  'connection.put': 'connected the account for',
  'credential.add': 'added credential',
  'credential.revoke': 'revoked credential',
  'interaction.answer': 'answered request',
  'interaction.approve': 'approved request',
  'interaction.forget': 'ended the remembered allow of request',
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
  'rules.update': 'changed the rules for tool calls',
  'run.signal': 'sent a message to run',
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
  'rules.update',
  'session_token.issue',
  'token.exchange',
  'token.issue',
]);

/** An action alone, as a filter names it. */
export function auditActionName(action: string): string {
  const words = verbs[action] ?? action;
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}

/**
 * A row of the audit log as a sentence: `Ann Miller removed member bob@acme.example`. An action that this version does
 * not know keeps its name. `nameOf` is called with the ids that the row says without a name.
 *
 * @example
 * for await (const row of admin.audit.list()) console.log(auditSentence(row));
 */
export function auditSentence(
  { actor, action, object, details }: Pick<AuditRecord, 'actor' | 'action' | 'object' | 'details'>,
  nameOf: (id: string) => string | undefined = () => undefined,
): string {
  const unnamed = actor.kind === 'anonymous' ? 'A caller without a login' : 'The server';
  const who = actor.name ?? (actor.id === '' ? unnamed : actor.id);
  if (action === 'interaction.answer') return `${who} ${answerWords(details, nameOf)}`;
  if (action === 'interaction.approve') return `${who} approved ${requestWords(details, nameOf)}`;
  if (action === 'call.deny' || action === 'call.allow') {
    return `${who} ${decidedWords(action, details, nameOf)}`;
  }
  if (action === 'invitation.create' && typeof details['role'] === 'string') {
    return `${who} invited ${nameIn(details, nameOf) ?? 'anyone with the link'} as ${details['role']}`;
  }
  if (action === 'invitation.accept' && typeof details['role'] === 'string') {
    return `${who} accepted an invitation as ${details['role']}`;
  }
  const verb = verbs[action] ?? action;
  const what = nameIn(details, nameOf) ?? nameOf(object) ?? object;
  if (withoutObject.has(action) || what === '') return `${who} ${verb}`;
  const { role } = details;
  const to = action === 'member.role' && typeof role === 'string' ? ` to ${role}` : '';
  return `${who} ${verb} ${what}${to}`;
}

/** `allowed write_file in run_01ja…r8en` */
function answerWords(
  details: AuditRecord['details'],
  nameOf: (id: string) => string | undefined,
): string {
  const { decision } = details;
  if (decision === 'allow') return `allowed ${requestWords(details, nameOf)}`;
  if (decision === 'deny') return `denied ${requestWords(details, nameOf)}`;
  return `answered a question${placeWords(details, nameOf)}`;
}

/** `write_file in run_01ja…r8en` */
function requestWords(
  details: AuditRecord['details'],
  nameOf: (id: string) => string | undefined,
): string {
  const { tool_name: tool } = details;
  return `${typeof tool === 'string' ? tool : 'a request'}${placeWords(details, nameOf)}`;
}

function placeWords(
  { run_id: run }: AuditRecord['details'],
  nameOf: (id: string) => string | undefined,
): string {
  return typeof run === 'string' ? ` in ${nameOf(run) ?? run}` : '';
}

const bySentence: Readonly<Record<string, string>> = {
  memory: ', as allowed before',
  expiry: ', because no answer came in time',
};

/** `denied refund in run_01ja…r8en by the rule no-refunds` */
function decidedWords(
  action: string,
  details: AuditRecord['details'],
  nameOf: (id: string) => string | undefined,
): string {
  const { tool_name: tool, by, rules } = details;
  const where = placeWords(details, nameOf);
  const what = typeof tool === 'string' ? tool : 'a call';
  const reason = (typeof by === 'string' ? bySentence[by] : undefined) ?? byRules(rules);
  return `${verbs[action]} ${what}${where}${reason}`;
}

function byRules(rules: unknown): string {
  const names = Array.isArray(rules)
    ? rules.flatMap((rule: unknown) =>
        typeof rule === 'object' && rule !== null && 'name' in rule ? [String(rule.name)] : [],
      )
    : [];
  return names.length === 0 ? '' : ` by the rule ${names.join(' and ')}`;
}

/** What the object is called, where the row says it. */
function nameIn(
  details: AuditRecord['details'],
  nameOf: (id: string) => string | undefined,
): string | undefined {
  const {
    name,
    display_name: displayName,
    email,
    origin,
    scope_kind: kind,
    scope_id: id,
    service,
  } = details;
  const scope =
    typeof kind === 'string' && typeof id === 'string'
      ? `for ${kind} ${nameOf(id) ?? id}`
      : undefined;
  return [name, displayName, email, origin, scope, service].find(
    (text) => typeof text === 'string',
  );
}
