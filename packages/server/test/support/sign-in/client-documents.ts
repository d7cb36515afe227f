import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile } from 'node:fs/promises';
import {
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
  request as httpRequest,
} from 'node:http';
import { type Server, createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { installMissing } from '../../../../../test/programs.ts';
import { removeFolder } from '../../../../../test/remove-folder.ts';
import { atFileEnd } from '../../../../../test/runner/file-end.ts';

/** A web server with the documents of assistants, whose certificate this process trusts. */
export class DocumentServer {
  /** What is at a path: a document, or how a request is answered. */
  readonly at = new Map<string, object | RequestListener>();
  /** Paths that were asked for. */
  readonly asked: string[] = [];
  /** The port on which a server answers everything else, behind the address of this one. */
  frontOf: number | undefined;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<DocumentServer> {
    const { key, cert } = await createCertificate();
    setDefaultCACertificates([...getCACertificates('default'), cert]);
    const server = createServer({ key, cert }).listen(0, 'localhost');
    // A client that sends into a connection just as its server closes it would fail.
    server.keepAliveTimeout = 3_600_000;
    await once(server, 'listening');
    atFileEnd(async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    });
    const documents = new DocumentServer(server);
    server.on('request', (request, response) => {
      const path = request.url ?? '';
      documents.asked.push(path);
      const found = documents.at.get(path);
      if (typeof found === 'function') (found as RequestListener)(request, response);
      else if (found === undefined && documents.frontOf !== undefined) {
        passTo(documents.frontOf, request, response);
      } else if (found === undefined) response.writeHead(404).end('{}');
      else response.writeHead(200).end(JSON.stringify(found));
    });
    return documents;
  }

  /** `localhost` and the port. */
  get host(): string {
    return `localhost:${(this.#server.address() as AddressInfo).port}`;
  }

  /** For a server that may read these documents. */
  get settings(): Record<string, string> {
    return { CONVOKE_CONNECTION_ALLOW: this.host };
  }

  /** Publishes the document of an assistant and returns its address, which is the client's id. */
  publish(path: string, change: Readonly<Record<string, unknown>> = {}): string {
    const client_id = `https://${this.host}${path}`;
    this.at.set(path, {
      client_id,
      client_name: 'Test assistant',
      redirect_uris: ['http://127.0.0.1/callback', `https://${this.host}/callback`],
      token_endpoint_auth_method: 'none',
      ...change,
    });
    return client_id;
  }
}

function passTo(port: number, request: IncomingMessage, response: ServerResponse): void {
  const { method, url: path, headers } = request;
  const to = { host: '127.0.0.1', port, method, path, headers, agent: false };
  const passed = httpRequest(to, (answer) => {
    response.writeHead(answer.statusCode ?? 500, answer.headers);
    answer.pipe(response);
  });
  passed.once('error', () => response.destroy());
  request.pipe(passed);
}

/** A certificate for localhost. */
async function createCertificate(): Promise<{ key: string; cert: string }> {
  installMissing(['openssl'], ['openssl']);
  const folder = await mkdtemp(join(tmpdir(), 'convoke-tls-'));
  atFileEnd(() => removeFolder(folder));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  execFileSync('openssl', ['req', ...kind, '-keyout', key, '-out', cert, ...subject], {
    stdio: 'pipe',
  });
  return { key: await readFile(key, 'utf8'), cert: await readFile(cert, 'utf8') };
}
