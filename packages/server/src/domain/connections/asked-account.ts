import type { ConnectionMissing, SettledInteraction, UnexecutedLeg } from '../interaction.ts';
import type { Session } from '../session.ts';
import { type DeclaredConnection, isPerson } from './declared.ts';

/**
 * D-607, D-942: a product that has a page for it is asked, for its own users. People of the organization are not its
 * users, and an end user does not decide on an account of the tenant.
 */
export function canAskFor(
  { owner }: Pick<DeclaredConnection, 'owner'>,
  { endUser }: Pick<Session, 'endUser'>,
  { connectUrl }: { readonly connectUrl?: string | undefined },
): boolean {
  return connectUrl !== undefined && owner === 'end_user' && endUser !== null && !isPerson(endUser);
}

/** Refs of these questions begin so, and have the service behind `refPrefixLength` characters: the pass selects by it. */
const refPrefix = 'connection-missing:';
const epochDigits = 10;
export const refPrefixLength = refPrefix.length + epochDigits + 1;

export function questionAboutAccount({ service, connectUrl, sessionId, leg, epoch }: Asking) {
  const url = connectUrl
    .replaceAll('{session_id}', encodeURIComponent(sessionId))
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
  readonly connectUrl: string;
  readonly sessionId: string;
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
