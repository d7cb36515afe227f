import { operations } from '@convoke/contract';
import { expect, test } from 'vitest';
import { type OfferedSignIn, serverMetadata } from '../../src/auth/metadata.ts';

const baseUrl = 'https://convoke.example';
const { schema } = operations.get_metadata.responses[200];
const nothing = { hasConsole: false, hasSignIn: false, hasRegistration: false };
const signIn = ['authorization_endpoint', 'code_challenge_methods_supported'];

test.each<readonly [string, Partial<OfferedSignIn>, readonly string[], string, readonly string[]]>([
  ['no person signs in', {}, [], 'client_credentials', []],
  [
    'registration is on, but no person signs in',
    { hasRegistration: true },
    [],
    'client_credentials',
    [],
  ],
  ['the console exchanges tokens', { hasConsole: true }, [], 'token-exchange', []],
  ['people sign in', { hasSignIn: true }, ['code'], 'refresh_token', signIn],
  [
    'assistants may register, too',
    { hasSignIn: true, hasRegistration: true },
    ['code'],
    'authorization_code',
    [...signIn, 'registration_endpoint'],
  ],
])(
  'where %s, the metadata has the required members, and those of what is there (D-953)',
  (_, ...[offered, responseTypes, grant, members]) => {
    const metadata = serverMetadata({ baseUrl, ...nothing, ...offered });
    expect(schema.parse(metadata)).toEqual(metadata);
    // RFC 8414 section 2 requires the member also where no response type is supported.
    expect(metadata.response_types_supported).toEqual(responseTypes);
    expect(metadata.grant_types_supported.some((name) => name.endsWith(grant))).toBe(true);
    const optional = [...signIn, 'registration_endpoint'].filter((name) => name in metadata);
    expect(optional).toEqual(members);
    const isPublic = metadata.token_endpoint_auth_methods_supported.includes('none');
    expect(isPublic).toBe(offered.hasConsole === true || offered.hasSignIn === true);
  },
);
