import type { ConnectionMissing, SettledInteraction, UnexecutedLeg } from '../interaction.ts';
import type { Session } from '../session.ts';
import { type DeclaredConnection, isPerson } from './declared.ts';

/** Pages on which end users connect accounts, with `{tenant_id}`, `{session_id}` and `{service}` where these belong. */
export interface ConnectPages {
  /** Of the product, for its users. */
  readonly connectUrl?: string | undefined;
  /** Of the console, for people of the organization. */
  readonly consoleConnectUrl?: string | undefined;
}

/**
 * D-607, D-942: the page that connects the account, undefined where no user can be asked for it. The console's page
 * takes accounts of services that are connected by a link; and an end user does not decide on an account of the tenant.
 */
export function connectPageFor(
  { owner, link }: Pick<DeclaredConnection, 'owner' | 'link'>,
  { endUser }: Pick<Session, 'endUser'>,
  { connectUrl, consoleConnectUrl }: ConnectPages,
): string | undefined {
  if (owner !== 'end_user' || endUser === null) return undefined;
  if (!isPerson(endUser)) return connectUrl;
  return link === undefined ? undefined : consoleConnectUrl;
}

/**
 * Refs of these questions begin so, and have the service behind `refPrefixLength` characters: the pass selects by it.
 */
const refPrefix = 'connection-missing:';
const epochDigits = 10;
export const refPrefixLength = refPrefix.length + epochDigits + 1;

export function questionAboutAccount({ service, page, session, leg, epoch }: Asking) {
  const url = page
    .replaceAll('{tenant_id}', encodeURIComponent(session.tenantId))
    .replaceAll('{session_id}', encodeURIComponent(session.id))
    .replaceAll('{service}', encodeURIComponent(service));
  const about: ConnectionMissing = { kind: 'connection_missing', service, url, leg };
  return {
    type: 'user_question',
    // With the epoch of the leg: one that misses the account later asks again.
    ref: `${refPrefix}${String(epoch).padStart(epochDigits, '0')}:${service}`,
    question: `Connect ${service} to continue: ${url}`,
    options: [{ label: connectedAnswer }],
    about,
  } as const;
}

interface Asking {
  readonly service: string;
  readonly page: string;
  readonly session: Pick<Session, 'tenantId' | 'id'>;
  readonly leg: UnexecutedLeg;
  readonly epoch: number;
}

/** Any answer but `declined` has the leg look again. */
export const connectedAnswer = 'It is connected';

/** The leg that was not executed, if the run continues behind such a question. */
export function unexecutedLeg(answered: readonly SettledInteraction[]): UnexecutedLeg | undefined {
  return answered.map(aboutAccount).find((about) => about !== undefined)?.leg;
}

/** Whether an end user does not want to connect the service. */
export function isDeclined(answered: readonly SettledInteraction[], service: string): boolean {
  return answered.some(
    (one) =>
      aboutAccount(one)?.service === service && one.kind === 'question' && 'declined' in one.answer,
  );
}

function aboutAccount(interaction: SettledInteraction): ConnectionMissing | undefined {
  if (interaction.kind !== 'question') return undefined;
  const { about } = interaction;
  return about?.kind === 'connection_missing' ? about : undefined;
}
