import { type OrganizationId, organizationId } from '@convoke/contract';
import { ActorNames, type Names } from '../app/actor-names.ts';
import { type VerifiedChain, listAudit, sealAudit, verifyAudit } from '../app/audit.ts';
import {
  type Member,
  addMember,
  createOrganization,
  findPerson,
  listMembers,
  removeMember,
} from '../app/organizations.ts';
import { setPassword, signOutEverywhere } from '../app/people/passwords.ts';
import { orRefuse, refuse } from '../app/refusal.ts';
import type { Services } from '../app/services.ts';
import { revokeKey, rotateKeys } from '../auth/key-rotation.ts';
import type { SigningKeys } from '../auth/keys.ts';
import { createPasswords, makeOneTimePassword } from '../auth/passwords.ts';
import { issuePersonToken } from '../auth/tokens/person-tokens.ts';
import { makeSignInLink } from '../auth/sign-in/link.ts';
import type { IssuedToken, Tokens } from '../auth/tokens/tokens.ts';
import { type Actor, type AuditRow, type ChainHead, deploymentChain } from '../domain/audit.ts';
import type { Role } from '../domain/member.ts';
import { readPassword } from '../domain/people/password.ts';
import type {
  Organization,
  OrganizationMember,
} from '../ports/repositories/identity/organizations.ts';
import { quickstartOwner } from '../quickstart.ts';

/**
 * Commands that the operator of the machine runs on a deployment, also while its servers run. The audit log records
 * each of them under the name of the operating system account.
 */
export interface Operator {
  createOrganization(name: string): Promise<Organization>;
  addMember(member: NewMember): Promise<Member>;
  /** The members of an organization, in the order in which they joined. */
  listMembers(organization?: string): Promise<OrganizationMember[]>;
  /** The member loses access to the organization with the next request. */
  removeMember(member: Omit<NewMember, 'role'>): Promise<Member>;
  /** For people who cannot sign in now, and for automation. */
  issueToken(email: string, lifetimeSeconds: number): Promise<IssuedToken>;
  /** Without `password` the member gets a one-time password, which is returned. */
  setPassword(email: string, password?: string): Promise<string | undefined>;
  /** Ends every sign-in and every token of the person. */
  signOut(email: string): Promise<void>;
  /**
   * A one-time link that signs the person, or the owner of the quickstart, in on this machine; undefined where none
   * works.
   */
  signInLink(email?: string): Promise<string | undefined>;
  listKeys(): Promise<readonly KeyState[]>;
  /** Tokens that the key signed are refused. Returns the id of the key that signs from now on. */
  revokeKey(kid: string): Promise<string>;
  /** Returns the id of the new key, which signs after its lead time. */
  rotateKeys(): Promise<string>;
  listAudit(limit: number, organization?: string): Promise<AuditRow[]>;
  /** The names of people and clients, by their ids. */
  namesOf(ids: Iterable<string>): Promise<Names>;
  verifyAudit(): AsyncIterable<VerifiedChain>;
  /** Seals the heads without a valid seal, and returns them. */
  sealAudit(): Promise<ChainHead[]>;
  close(): Promise<void>;
}

export interface KeyState {
  readonly kid: string;
  readonly signsFrom: number;
  /** When the last token it signed has expired; null while it signs. */
  readonly retiresAt: number | null;
}

export interface NewMember {
  /** May be left out where there is one organization. */
  readonly organization?: string | undefined;
  readonly email: string;
  readonly role: Role;
}

export interface OperatorParts extends Pick<Services, 'store' | 'clock' | 'ids'> {
  readonly keys: SigningKeys;
  readonly tokens: Tokens;
  /** The address that servers publish. */
  readonly baseUrl: string;
  /** Whether people use the console and sign in here, and not with another issuer. */
  readonly hasConsole: boolean;
  /** The operating system account. */
  readonly account: string;
}

export function createOperator(parts: OperatorParts): Operator {
  const { store, clock, keys, account } = parts;
  const by: Actor = { kind: 'operator', id: account, requestId: null, address: null };
  return {
    ...peopleCommands(parts, by),

    async listKeys() {
      const all = await store.read.signingKeys.list();
      return all.map(({ kid, signsFrom, retiresAt }) => ({ kid, signsFrom, retiresAt }));
    },

    async revokeKey(kid) {
      return (await revokeKey({ keys, clock }, kid, by)).signingKid;
    },

    rotateKeys: () => rotateKeys({ keys, clock }, by),

    listAudit(limit, organization) {
      const chain =
        organization === undefined || organization === deploymentChain
          ? organization
          : organizationId(organization);
      return listAudit(parts, { limit, chain });
    },

    namesOf: (ids) => new ActorNames(parts).of(ids),

    verifyAudit: () => verifyAudit(parts),

    sealAudit: () => sealAudit(parts, by),

    close: () => store.close(),
  };
}

type PeopleCommands = Pick<
  Operator,
  | 'createOrganization'
  | 'addMember'
  | 'listMembers'
  | 'removeMember'
  | 'issueToken'
  | 'setPassword'
  | 'signOut'
  | 'signInLink'
>;

function peopleCommands(parts: OperatorParts, by: Actor): PeopleCommands {
  return {
    createOrganization: (name) => createOrganization(parts, { name, by }),

    async addMember({ organization, email, role }) {
      const named = await organizationOf(parts, organization);
      return addMember(parts, { organizationId: named, email, role, by });
    },

    async listMembers(organization) {
      const named = await organizationOf(parts, organization);
      return everyMember(parts, named);
    },

    async removeMember({ organization, email }) {
      const named = await organizationOf(parts, organization);
      return removeMember(parts, { organizationId: named, email, by });
    },

    async issueToken(email, lifetimeSeconds) {
      const { id: userId } = await findPerson(parts, email);
      return issuePersonToken(parts, { userId, lifetimeSeconds, by });
    },

    async setPassword(email, password) {
      const { id: userId } = await findPerson(parts, email);
      const isOneTime = password === undefined;
      const text =
        password === undefined ? makeOneTimePassword() : orRefuse(readPassword(password));
      const hash = await createPasswords().hash(text);
      await setPassword(parts, { userId, hash, isOneTime, by });
      return isOneTime ? text : undefined;
    },

    async signOut(email) {
      const { id: userId } = await findPerson(parts, email);
      await signOutEverywhere(parts, { userId, by });
    },

    async signInLink(email = quickstartOwner) {
      const { id: userId } = await findPerson(parts, email);
      return (await makeSignInLink(parts, { userId, by }))?.url;
    },
  };
}

/** The organization that was named, or else the only one there is. */
async function organizationOf(
  { store }: Pick<Services, 'store'>,
  named: string | undefined,
): Promise<OrganizationId> {
  const { organizations } = store.read;
  const found =
    named === undefined
      ? await organizations.only()
      : await organizations.find(organizationId(named));
  if (found !== undefined) return found.id;
  const message =
    named === undefined
      ? 'There is no organization, or more than one: name it with --org.'
      : `There is no organization ${named}.`;
  return refuse('not_found', { message });
}

const pageSize = 200;

async function everyMember(
  services: Pick<Services, 'store'>,
  organization: OrganizationId,
): Promise<OrganizationMember[]> {
  const members: OrganizationMember[] = [];
  for (;;) {
    const after = members.at(-1)?.user.id;
    const page = { limit: pageSize, order: 'asc', after } as const;
    const next = await listMembers(services, organization, page);
    members.push(...next);
    if (next.length < pageSize) return members;
  }
}
