import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { installMissing } from '../../../test/programs.ts';
import { removeFolder } from '../../../test/remove-folder.ts';

/** Makes a certificate for localhost that no machine trusts. */
async function createCertificate(): Promise<{ key: string; cert: string }> {
  installMissing(['openssl'], ['openssl']);
  const folder = await mkdtemp(join(tmpdir(), 'convoke-tls-'));
  onTestFinished(() => removeFolder(folder));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  execFileSync('openssl', ['req', ...kind, '-keyout', key, '-out', cert, ...subject], {
    stdio: 'pipe',
  });
  return { key, cert };
}

/** Starts an HTTPS server with a certificate of its own, whose file `cert` names. */
export async function startTlsServer(answer: RequestListener) {
  const { key, cert } = await createCertificate();
  const server = createTlsServer({ key: readFileSync(key), cert: readFileSync(cert) }, answer);
  return { cert, server, port: await listenOnLocalhost(server) };
}

/** Listens until the test ends, and returns the port. */
export async function listenOnLocalhost(server: Server): Promise<number> {
  server.listen(0, 'localhost');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}
