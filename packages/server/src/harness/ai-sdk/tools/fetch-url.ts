import { type IncomingMessage, request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';
import { z } from 'zod';
import { readEgress } from '../../../domain/egress.ts';
import { findTarget } from '../../../egress/target.ts';
import { errorCode } from '../../../runtime/error-code.ts';
import { type AgentTool, type ToolOutput, failed, shortened, succeeded } from './agent-tool.ts';
import { textOfHtml } from './html-text.ts';

const idleMs = 30_000;
const bodyBytesMax = 2 * 1024 * 1024;
const textual = /^(text\/|application\/(.*\+)?(json|xml|yaml|x-yaml|javascript)\b)/;

const inputSchema = z.strictObject({
  url: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }).max(8192),
});

/**
 * Reads a page from one of the hosts of the agent's `sandbox.network`. Where the host is, is looked up once
 * and checked, and that address is connected to (`egress-target.ts`); a redirect is told, not followed, so that
 * it comes through here again.
 */
export function fetchUrlTool(network: readonly string[]): AgentTool {
  const name = 'fetch_url';
  const entries = network.flatMap((entry) => readEgress(entry) ?? []);
  return {
    name,
    wireName: name,
    description: `Reads a web page or a text file by its URL. Reachable hosts: ${network.join(', ')}.`,
    inputSchema,
    async run(given, signal) {
      const parsed = inputSchema.safeParse(given);
      if (!parsed.success) return failed(`${name}: ${z.prettifyError(parsed.error)}`);
      const url = new URL(parsed.data.url);
      if (url.username !== '' || url.password !== '')
        return failed(`${name}: a URL with a user name or a password is not fetched`);
      const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
      const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
      const target = await findTarget(entries, host, port);
      if (!target.ok) return failed(`${name}: ${target.reason}`);
      try {
        return await read(await get({ url, lookup: target.lookup, signal }));
      } catch (error) {
        const code = errorCode(error);
        const reason = signal.aborted
          ? 'the run was cancelled'
          : `${url.host} does not answer${code === undefined ? '' : ` (${code})`}`;
        return failed(`${name}: ${reason}`);
      }
    },
  };
}

type Lookup = Extract<Awaited<ReturnType<typeof findTarget>>, { ok: true }>['lookup'];

/** Not `fetch`: that follows the proxy variables and connects where it likes. */
function get({ url, lookup, signal }: { url: URL; lookup: Lookup; signal: AbortSignal }) {
  return new Promise<IncomingMessage>((resolve, reject) => {
    const request = url.protocol === 'https:' ? requestSecure : requestPlain;
    const headers = { accept: 'text/*, application/json', 'user-agent': 'convoke' };
    const outgoing = request(url, { agent: false, lookup, signal, headers }, resolve);
    outgoing.setTimeout(idleMs, () => outgoing.destroy(new Error('silent')));
    outgoing.once('error', reject);
    outgoing.end();
  });
}

async function read(response: IncomingMessage): Promise<ToolOutput> {
  const { statusCode = 0, headers } = response;
  if (statusCode >= 300 && statusCode < 400) {
    response.destroy();
    return failed(`fetch_url: it is now at ${headers.location ?? 'an unknown address'}`);
  }
  const type = headers['content-type'] ?? 'text/plain';
  if (!textual.test(type)) {
    response.destroy();
    return failed(`fetch_url: this is no text but ${type}`);
  }
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response) {
    const bytes = Buffer.from(chunk as Uint8Array);
    size += bytes.length;
    chunks.push(bytes);
    // What there was until here is still worth reading.
    if (size > bodyBytesMax) break;
  }
  const body = Buffer.concat(chunks).toString('utf8');
  const text = shortened(type.startsWith('text/html') ? textOfHtml(body) : body);
  return statusCode < 300 ? succeeded(text) : failed(`fetch_url: status ${statusCode}\n${text}`);
}
