import { z } from 'zod';
import { limits } from './limits.ts';

/** D-01: pattern of resource ids. A path segment that does not match is a 404, never a 400. */
export const idPattern = /^[A-Za-z0-9_-]{1,64}$/;

/** D-01: the prefix of each kind of id (TypeID). */
export const idPrefixes = {
  organization: 'org',
  tenant: 'ten',
  workspace: 'ws',
  session: 'sess',
  run: 'run',
  interaction: 'int',
  file: 'file',
  client: 'cli',
  credential: 'cred',
  invitation: 'inv',
  budget: 'bud',
  user: 'usr',
  schedule: 'sch',
  webhook: 'wh',
  delivery: 'whd',
  connection: 'con',
  wait: 'wait',
} as const;

export type IdKind = keyof typeof idPrefixes;

/** The kind of an id that the service made; undefined for any other text. */
export function kindOfId(id: string): IdKind | undefined {
  const kinds = Object.keys(idPrefixes) as IdKind[];
  return kinds.find((kind) => id.startsWith(`${idPrefixes[kind]}_`));
}

export function exampleId(kind: IdKind): string {
  return `${idPrefixes[kind]}_01ja3w8z5kq4v7m2x9c6t1r8en`;
}

function idText(kind: IdKind, description = `Id of the ${kind}.`) {
  return z
    .string()
    .regex(idPattern)
    .meta({ description, examples: [exampleId(kind)] });
}

export const organizationIdSchema = idText('organization').brand<'OrganizationId'>();
export const tenantIdSchema = idText('tenant').brand<'TenantId'>();
export const sessionIdSchema = idText('session').brand<'SessionId'>();
export const runIdSchema = idText('run').brand<'RunId'>();
export const interactionKeySchema = idText(
  'interaction',
  'Key of the interaction.',
).brand<'InteractionKey'>();
export const fileIdSchema = idText('file').brand<'FileId'>();
export const clientIdSchema = idText(
  'client',
  'Record id (`cli_…`) of the client, not its OAuth `client_id`.',
).brand<'ClientId'>();
export const credentialIdSchema = idText('credential').brand<'CredentialId'>();
export const invitationIdSchema = idText('invitation').brand<'InvitationId'>();
export const userIdSchema = idText('user').brand<'UserId'>();
export const budgetIdSchema = idText('budget');
export const webhookIdSchema = idText('webhook').brand<'WebhookId'>();
export const deliveryIdSchema = idText('delivery').brand<'DeliveryId'>();
export const scheduleIdSchema = idText('schedule').brand<'ScheduleId'>();
const connectionIdSchema = idText('connection').brand<'ConnectionId'>();

export type OrganizationId = z.infer<typeof organizationIdSchema>;
export type TenantId = z.infer<typeof tenantIdSchema>;
export type SessionId = z.infer<typeof sessionIdSchema>;
export type RunId = z.infer<typeof runIdSchema>;
export type InteractionKey = z.infer<typeof interactionKeySchema>;
export type FileId = z.infer<typeof fileIdSchema>;
/** The record id (`cli_…`) of an automation client, not its OAuth `client_id`. */
export type ClientId = z.infer<typeof clientIdSchema>;
export type CredentialId = z.infer<typeof credentialIdSchema>;
export type InvitationId = z.infer<typeof invitationIdSchema>;
export type UserId = z.infer<typeof userIdSchema>;
export type WebhookId = z.infer<typeof webhookIdSchema>;
export type DeliveryId = z.infer<typeof deliveryIdSchema>;
export type ScheduleId = z.infer<typeof scheduleIdSchema>;
export type ConnectionId = z.infer<typeof connectionIdSchema>;

// Brand constructors, without a check: for text from a trusted source (a row, an id generator).
export const organizationId = (value: string) => value as OrganizationId;
export const tenantId = (value: string) => value as TenantId;
export const sessionId = (value: string) => value as SessionId;
export const runId = (value: string) => value as RunId;
export const interactionKey = (value: string) => value as InteractionKey;
export const fileId = (value: string) => value as FileId;
export const clientId = (value: string) => value as ClientId;
export const credentialId = (value: string) => value as CredentialId;
export const invitationId = (value: string) => value as InvitationId;
export const userId = (value: string) => value as UserId;
export const webhookId = (value: string) => value as WebhookId;
export const deliveryId = (value: string) => value as DeliveryId;
export const scheduleId = (value: string) => value as ScheduleId;
export const connectionId = (value: string) => value as ConnectionId;

const eventIdPattern = /^[0-9]{12}$/;

const eventIdZeros = '0'.repeat(limits.eventIdDigits);

/** D-02: fixed width, so that event ids sort as text as they sort as numbers. */
export function formatEventId(seq: number): string {
  // Each event of a run has two of them made: `padStart` takes four times as long (D-781).
  const text = String(seq);
  return eventIdZeros.slice(text.length) + text;
}

/** Returns the sequence number of an event id, or undefined for any other text. */
export function parseEventId(value: string): number | undefined {
  return eventIdPattern.test(value) ? Number(value) : undefined;
}

const noticeIdPattern = /^[0-9]{16}$/;

/** D-112: the number of a notice in the feed of its tenant. */
export function formatNoticeId(seq: number): string {
  return String(seq).padStart(limits.noticeIdDigits, '0');
}

/** Returns the number of a notice id, or undefined for any other text. */
export function parseNoticeId(value: string): number | undefined {
  const seq = noticeIdPattern.test(value) ? Number(value) : Number.NaN;
  return Number.isSafeInteger(seq) ? seq : undefined;
}
