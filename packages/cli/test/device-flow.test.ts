import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { exitCodes } from '../src/failure.ts';
import { logInByDevice, renew } from '../src/sign-in/device-flow.ts';

let server: Server | undefined;
afterEach(() => server?.close());

interface Answer {
  readonly status: number;
  readonly body: object;
}

/** Starts an identity provider that answers its endpoints as given. */
async function startIssuer(answers: Readonly<Record<string, Answer>>): Promise<string> {
  const onRequest: RequestListener = ({ url = '', headers }, response) => {
    const issuer = `http://${headers.host}`;
    const metadata = {
      issuer,
      token_endpoint: `${issuer}/token`,
      ...('/device' in answers ? { device_authorization_endpoint: `${issuer}/device` } : {}),
    };
    const found = answers[url] ?? { status: 200, body: metadata };
    response.writeHead(found.status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(found.body));
  };
  const started = createServer(onRequest);
  server = started;
  await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(started.address() as AddressInfo).port}`;
}

const code = {
  device_code: 'device',
  user_code: 'ABCD',
  verification_uri: 'http://127.0.0.1/device',
  expires_in: 60,
  interval: 0.01,
};
const pending = { status: 400, body: { error: 'authorization_pending' } };

test('a login that the person denies fails with the reason of the server', async () => {
  const denied = { error: 'access_denied', error_description: 'the person said no' };
  const baseUrl = await startIssuer({
    '/device': { status: 200, body: code },
    '/token': { status: 400, body: denied },
  });
  await expect(logInByDevice(baseUrl, () => {})).rejects.toMatchObject({
    message: 'the login was refused: the person said no; run `convoke login`',
    exitCode: exitCodes.refused,
  });
});

test('a code that is not confirmed expires', async () => {
  const baseUrl = await startIssuer({
    '/device': { status: 200, body: { ...code, expires_in: 0.2 } },
    '/token': pending,
  });
  await expect(logInByDevice(baseUrl, () => {})).rejects.toMatchObject({
    message: 'the code has expired: run `convoke login` again',
    exitCode: exitCodes.refused,
  });
});

test('a server without device login says so', async () => {
  const baseUrl = await startIssuer({});
  await expect(logInByDevice(baseUrl, () => {})).rejects.toThrow('does not offer device login');
});

test('an address without an identity provider is named, with what it returned', async () => {
  const discovery = '/.well-known/openid-configuration';
  const baseUrl = await startIssuer({ [discovery]: { status: 404, body: {} } });
  await expect(logInByDevice(baseUrl, () => {})).rejects.toMatchObject({
    message: `${baseUrl}${discovery} returned 404; use --server to set the address`,
    exitCode: exitCodes.unreachable,
  });
  server?.close();
  server?.closeAllConnections();
  await expect(logInByDevice(baseUrl, () => {})).rejects.toMatchObject({
    message: `cannot reach ${baseUrl}${discovery}; use --server to set the address`,
    exitCode: exitCodes.unreachable,
  });
});

test('a used refresh token ends the login', async () => {
  const used = { error: 'invalid_grant', error_description: 'grant request is invalid' };
  const baseUrl = await startIssuer({ '/token': { status: 400, body: used } });
  const login = { baseUrl, accessToken: 'old', refreshToken: 'used', expiresAt: 0 };
  await expect(renew(login)).rejects.toMatchObject({
    message: 'the login was refused: grant request is invalid; run `convoke login`',
    exitCode: exitCodes.refused,
  });
});
