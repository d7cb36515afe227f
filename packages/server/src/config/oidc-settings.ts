import { z } from 'zod';
import { type Role, isRole } from '../domain/member.ts';
import type { PeopleIssuer } from '../ports/people-issuer.ts';
import type { Setting, SettingValues } from './setting.ts';

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
  .refine(
    (map) => [...map.values()].every(isRole),
    'must map to owner, admin, operator, viewer or member',
  )
  .transform((map) => new Map([...map].filter((pair): pair is [string, Role] => isRole(pair[1]))));

export const oidcSettings = {
  CONVOKE_OIDC_ISSUER: {
    fallback: '',
    means: 'OpenID Connect issuer that people sign in with, instead of the built-in one',
    format: 'address that starts with `https://`; `http://` only on loopback',
    role: 'api',
    read: issuer,
  },
  CONVOKE_OIDC_AUDIENCE: {
    fallback: '',
    means: 'audience of the access tokens that it issues for this server',
    format: 'text; required with CONVOKE_OIDC_ISSUER',
    role: 'api',
    read: z.string(),
  },
  CONVOKE_OIDC_ORGANIZATION_CLAIM: {
    fallback: 'organization_id',
    means: 'token claim that names the organization, or a list of them',
    format: 'text of at most 200 characters',
    role: 'api',
    read: claimName,
  },
  CONVOKE_OIDC_ORGANIZATIONS: {
    fallback: '',
    means:
      'organizations for its values, as acme=org_…,other=org_… ; without it they are organization ids',
    format: '`value=organization id`, separated by commas',
    role: 'api',
    read: mapping,
  },
  CONVOKE_OIDC_ROLE_CLAIM: {
    fallback: 'role',
    means: 'token claim that names the role, or a list of them',
    format: 'text of at most 200 characters',
    role: 'api',
    read: claimName,
  },
  CONVOKE_OIDC_ROLES: {
    fallback: '',
    means:
      'roles for its values, as boss=owner,ops=admin ; without it they are the names of our roles',
    format: '`value=role`, separated by commas; a role is owner, admin, operator, viewer or member',
    role: 'api',
    read: roleMapping,
  },
  CONVOKE_OIDC_CONSOLE_CLIENT_ID: {
    fallback: 'convoke-console',
    means: 'client id of the console at that issuer: only its tokens open the console (D-151)',
    format: 'text of at most 200 characters',
    role: 'api',
    read: claimName,
  },
} as const satisfies Readonly<Record<string, Setting>>;

type OidcSetting = keyof typeof oidcSettings;
type Value = SettingValues<typeof oidcSettings>;

/** A contradiction between these settings; undefined when there is none. */
export function oidcProblem(
  value: Value,
  isSet: (name: OidcSetting) => boolean,
): string | undefined {
  if (value('CONVOKE_OIDC_ISSUER') === undefined) {
    const names = Object.keys(oidcSettings) as OidcSetting[];
    const unused = names.find(isSet);
    return unused && `${unused} is set, but CONVOKE_OIDC_ISSUER is not`;
  }
  return value('CONVOKE_OIDC_AUDIENCE') === ''
    ? 'CONVOKE_OIDC_ISSUER is set, so CONVOKE_OIDC_AUDIENCE must be set too: it identifies the tokens for this server'
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
    consoleClientId: value('CONVOKE_OIDC_CONSOLE_CLIENT_ID'),
  };
}

function isIssuer(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, search, hash } = new URL(text);
  if (search !== '' || hash !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && loopback.test(hostname));
}
