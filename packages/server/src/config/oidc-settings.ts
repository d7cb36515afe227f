import { z } from 'zod';
import type { Role } from '../domain/member.ts';
import type { PeopleIssuer } from '../ports/people-issuer.ts';

const claimName = z.string().min(1).max(200);
const loopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

const issuer = z
  .string()
  .refine((text) => text === '' || isIssuer(text), 'must be the https:// address of the issuer')
  .transform((text) => (text === '' ? undefined : text));

/** `a=b,c=d`; undefined when the text is something else. */
function pairs(text: string): [string, string][] | undefined {
  if (text === '') return [];
  const found = text.split(',').map((pair) => pair.split('=').map((part) => part.trim()));
  const isPairs = found.every((pair) => pair.length === 2 && pair.every((part) => part !== ''));
  return isPairs ? found.map(([from = '', to = '']) => [from, to]) : undefined;
}

const mapping = z
  .string()
  .refine((text) => pairs(text) !== undefined, 'must be written as value=meaning,value=meaning')
  .transform((text) => new Map(pairs(text)));

const roleMapping = mapping
  .refine((map) => [...map.values()].every(isRole), 'must lead to owner, admin or member')
  .transform((map) => new Map([...map].filter((pair): pair is [string, Role] => isRole(pair[1]))));

export const oidcSettings = {
  CONVOKE_OIDC_ISSUER: {
    fallback: '',
    means: 'OpenID Connect issuer that people sign in with, instead of the built-in one',
    read: issuer,
  },
  CONVOKE_OIDC_AUDIENCE: {
    fallback: '',
    means: 'what its access tokens for this server name as their audience',
    read: z.string(),
  },
  CONVOKE_OIDC_ORGANIZATION_CLAIM: {
    fallback: 'organization_id',
    means: 'claim that names the organization, or a list of them',
    read: claimName,
  },
  CONVOKE_OIDC_ORGANIZATIONS: {
    fallback: '',
    means: 'what its values mean, as acme=org_…,other=org_… ; without it they are our ids',
    read: mapping,
  },
  CONVOKE_OIDC_ROLE_CLAIM: {
    fallback: 'role',
    means: 'claim that names the role, or a list of them',
    read: claimName,
  },
  CONVOKE_OIDC_ROLES: {
    fallback: '',
    means: 'what its values mean, as boss=owner,ops=admin ; without it owner, admin, member',
    read: roleMapping,
  },
} as const;

type OidcSetting = keyof typeof oidcSettings;
type Value = <Name extends OidcSetting>(name: Name) => z.infer<(typeof oidcSettings)[Name]['read']>;

/** What is wrong when the settings are looked at together; undefined when nothing is. */
export function oidcProblem(
  value: Value,
  isSet: (name: OidcSetting) => boolean,
): string | undefined {
  if (value('CONVOKE_OIDC_ISSUER') === undefined) {
    const names = Object.keys(oidcSettings) as OidcSetting[];
    const stray = names.find(isSet);
    return stray && `${stray} is set, but CONVOKE_OIDC_ISSUER is not`;
  }
  return value('CONVOKE_OIDC_AUDIENCE') === ''
    ? 'CONVOKE_OIDC_ISSUER is set, so CONVOKE_OIDC_AUDIENCE must be: it tells tokens for this server from others'
    : undefined;
}

export function readPeopleIssuer(value: Value): PeopleIssuer | undefined {
  const address = value('CONVOKE_OIDC_ISSUER');
  if (address === undefined) return undefined;
  return {
    issuer: address,
    audience: value('CONVOKE_OIDC_AUDIENCE'),
    organizationClaim: value('CONVOKE_OIDC_ORGANIZATION_CLAIM'),
    organizations: value('CONVOKE_OIDC_ORGANIZATIONS'),
    roleClaim: value('CONVOKE_OIDC_ROLE_CLAIM'),
    roles: value('CONVOKE_OIDC_ROLES'),
  };
}

function isIssuer(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, search, hash } = new URL(text);
  if (search !== '' || hash !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && loopback.test(hostname));
}

function isRole(text: string): text is Role {
  return text === 'owner' || text === 'admin' || text === 'member';
}
