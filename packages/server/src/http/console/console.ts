import { html } from '@convoke/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify';
import { refuse } from '../../app/refusal.ts';
import { pageHeaders } from '../../auth/sign-in/page.ts';
import { messagePage } from '../../auth/sign-in/pages.ts';
import type { Metrics } from '../../ports/metrics.ts';
import { pageMethods } from '../declared-paths.ts';
import { baseHeaders } from '../response-headers.ts';
import { type ConsoleFile, type ConsoleFiles, indexName } from './console-files.ts';

export interface ConsoleRouteParts {
  readonly files: ConsoleFiles;
  readonly baseUrl: string;
  /** The other issuer that people sign in with, to which the page sends requests. */
  readonly issuer: OtherIssuer | undefined;
  readonly metrics: Pick<Metrics, 'requests'>;
}

export interface OtherIssuer {
  readonly address: string;
  /** Of the console, there. */
  readonly clientId: string;
}

const root = '/console/';
/** Files here have the digest of their content in their name. */
const hashedFolder = 'assets/';
/** Where an issuer sends the browser back to. */
const callbackName = 'callback';

/**
 * Serves the console: a page application that calls the API of this server and nothing else. Its files are not
 * operations of the API. Every path that is not a file is the page itself, which shows what the path names.
 */
export function mountConsole(app: FastifyInstance, parts: ConsoleRouteParts): void {
  const page = pagePolicy(parts.issuer);
  const callback = framedByItself(page, parts.issuer);
  const rootPath = new URL(parts.baseUrl).pathname.replace(/\/$/, '');
  const toConsole = (request: FastifyRequest, reply: FastifyReply) =>
    redirect(request, reply, rootPath + root);

  const route = (url: string, handler: RouteHandlerMethod) =>
    app.route({ method: pageMethods, url, handler });
  route('/', (request, reply) => {
    const isBrowser = request.raw.headers.accept?.includes('text/html') === true;
    return isBrowser ? toConsole(request, reply) : sendLinks(request, reply, parts.baseUrl);
  });
  route('/console', toConsole);
  route(`${root}*`, async (request, reply) => {
    const elsewhere = addressOnThisMachine(request, parts.baseUrl);
    if (elsewhere !== undefined) return redirect(request, reply, elsewhere);
    const [path = ''] = request.url.split('?');
    const name = path.slice(root.length);
    const files = await parts.files.current();
    const file =
      files?.get(name) ?? (name.startsWith(hashedFolder) ? undefined : files?.get(indexName));
    if (files === undefined) return sendNotBuilt(request, reply, parts);
    // A page of an earlier build asks for a script that is gone: the page would not be that script.
    if (file === undefined) return refuse('not_found');
    parts.metrics.requests.add(1, 'console', '200');
    return sendFile(request, reply, {
      file: file === files.get(indexName) ? withIssuer(file, parts.issuer) : file,
      headers: {
        ...(name === callbackName ? callback : page),
        'cache-control': cachingOf(name, file),
      },
    });
  });
}

const policyHeader = 'content-security-policy';

/** The policy of the page (console design §3): no inline script or style, no other origin, no HTML from text. */
function pagePolicy(issuer: OtherIssuer | undefined): Record<string, string> {
  const own = "'self'";
  const connect = issuer === undefined ? own : `${own} ${new URL(issuer.address).origin}`;
  // A hidden frame asks the issuer for another token, and ends at the callback (D-261).
  const frame = issuer === undefined ? '' : `frame-src ${connect}; `;
  return {
    [policyHeader]:
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; font-src 'self'; " +
      `connect-src ${connect}; ${frame}form-action 'self'; base-uri 'none'; frame-ancestors 'none'; ` +
      "require-trusted-types-for 'script'; trusted-types 'none'",
    'cross-origin-opener-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  };
}

/** The callback may stand in a frame of the console itself. There the page does nothing: only its address is read. */
function framedByItself(
  page: Readonly<Record<string, string>>,
  issuer: OtherIssuer | undefined,
): Readonly<Record<string, string>> {
  if (issuer === undefined) return page;
  const policy = page[policyHeader] ?? '';
  const allowing = policy.replace("frame-ancestors 'none'", "frame-ancestors 'self'");
  return { ...page, [policyHeader]: allowing };
}

/** Tells the page where people sign in. Without another issuer it is as it was built. */
function withIssuer(page: ConsoleFile, issuer: OtherIssuer | undefined): ConsoleFile {
  if (issuer === undefined) return page;
  const { address, clientId } = issuer;
  const head = html`<head>\n<meta name="convoke-issuer" content="${address}" data-client-id="${clientId}">`;
  const plain = Buffer.from(page.plain.toString('utf8').replace('<head>', () => head.markup));
  return { type: page.type, plain, gzip: undefined, brotli: undefined };
}

function cachingOf(name: string, { type }: ConsoleFile): string {
  if (name.startsWith(hashedFolder)) return 'public, max-age=31536000, immutable';
  return type.startsWith('text/html') ? 'no-store' : 'no-cache';
}

interface SentFile {
  readonly file: ConsoleFile;
  readonly headers: Readonly<Record<string, string>>;
}

function sendFile(request: FastifyRequest, reply: FastifyReply, { file, headers }: SentFile) {
  const { encoding, bytes } = encoded(file, request.raw.headers['accept-encoding']);
  return reply
    .headers({
      ...baseHeaders(undefined, request.id),
      ...headers,
      'content-type': file.type,
      vary: 'accept-encoding',
      ...(encoding === undefined ? {} : { 'content-encoding': encoding }),
    })
    .send(bytes);
}

/** The smallest form that the browser accepts. `q=0` refuses an encoding (RFC 9110 section 12.5.3). */
function encoded(
  { plain, gzip, brotli }: ConsoleFile,
  accept: string | string[] | undefined,
): { readonly encoding?: string; readonly bytes: Buffer } {
  const accepted = String(accept ?? '')
    .split(',')
    .filter((part) => !/;\s*q=0(\.0*)?\s*$/.test(part))
    .map((part) => part.split(';')[0]?.trim().toLowerCase());
  if (brotli !== undefined && accepted.includes('br')) return { encoding: 'br', bytes: brotli };
  if (gzip !== undefined && accepted.includes('gzip')) return { encoding: 'gzip', bytes: gzip };
  return { bytes: plain };
}

/**
 * A person on the machine itself may type another name of it, such as `localhost`. Tokens and redirects name the
 * address of the settings, so the browser is sent there; behind a proxy, where names differ on purpose, it is not.
 */
function addressOnThisMachine(
  { raw: { headers }, url }: FastifyRequest,
  baseUrl: string,
): string | undefined {
  const { host, hostname, origin } = new URL(baseUrl);
  const asked = headers.host ?? host;
  if (asked === host || !loopback.test(hostname)) return undefined;
  if (!URL.canParse(`http://${asked}`)) return undefined;
  return loopback.test(new URL(`http://${asked}`).hostname) ? origin + url : undefined;
}

const loopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

function redirect(request: FastifyRequest, reply: FastifyReply, location: string) {
  return reply
    .code(302)
    .headers({ ...baseHeaders(undefined, request.id), location })
    .send();
}

/** Tells a program, or a person with curl, where everything is. */
function sendLinks(request: FastifyRequest, reply: FastifyReply, baseUrl: string) {
  const paths = { console: 'console/', docs: 'docs', openapi: 'openapi.json' };
  const links = Object.entries(paths).map(([name, path]) => [name, `${baseUrl}/${path}`] as const);
  return reply
    .headers({ ...baseHeaders(undefined, request.id), 'content-type': 'application/json' })
    .send(`${JSON.stringify(Object.fromEntries(links), null, 2)}\n`);
}

const notBuilt = messagePage(
  'The console is not built',
  'Run npm run build -w @convoke/console in the checkout and load this page again. The API works without it.',
);

function sendNotBuilt(
  request: FastifyRequest,
  reply: FastifyReply,
  { metrics }: ConsoleRouteParts,
) {
  metrics.requests.add(1, 'console', '503');
  return reply
    .code(503)
    .headers({ ...baseHeaders(undefined, request.id), ...pageHeaders })
    .send(notBuilt);
}
