import { type IncomingMessage, request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';
import { z } from 'zod';
import { readEgress } from '../../../domain/egress.ts';
import type { Resolve } from '../../../egress/name-lookup.ts';
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
 * Fetches a page from one of the hosts in the agent's `sandbox.network`. The host is looked up once, the address is
 * checked, and the connection goes to that address (`egress/target.ts`). A redirect is reported, not followed, so that
 * the new address is checked too.
 */
export function fetchUrlTool(network: readonly string[], resolve: Resolve): AgentTool {
  const name = 'fetch_url';
  const entries = network.flatMap((entry) => readEgress(entry) ?? []);
  return {
    name,
    wireName: name,
    description: `Reads a web page or a text file by its URL. Reachable hosts: ${network.join(', ')}.`,
    inputSchema,
    touches: 'none',
    isRepeatable: true,
    async run(given, { signal }) {
      const parsed = inputSchema.safeParse(given);
      if (!parsed.success) return failed(`${name}: ${z.prettifyError(parsed.error)}`);
      const url = new URL(parsed.data.url);
      if (url.username !== '' || url.password !== '')
        return failed(`${name}: a URL with a user name or a password is not fetched`);
      const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
      const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
      const target = await findTarget({ entries, resolve }, host, port);
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

/** Does not use `fetch`, which obeys proxy variables and looks up the address again. */
function get({ url, lookup, signal }: { url: URL; lookup: Lookup; signal: AbortSignal }) {
  return new Promise<IncomingMessage>((resolve, reject) => {
    const request = url.protocol === 'https:' ? requestSecure : requestPlain;
    const headers = { accept: 'text/*, application/json', 'user-agent': 'convoke' };
    const outgoing = request(url, { agent: false, lookup, signal, headers }, resolve);
    outgoing.setTimeout(idleMs, () => outgoing.destroy(new Error('silent')));
    outgoing.on('error', reject);
    outgoing.end();
  });
}

async function read(response: IncomingMessage): Promise<ToolOutput> {
  const { statusCode = 0, headers } = response;
  if (statusCode >= 300 && statusCode < 400) {
    response.destroy();
    return failed(`fetch_url: it has moved to ${headers.location ?? 'an unknown address'}`);
  }
  const type = headers['content-type'] ?? 'text/plain';
  if (!textual.test(type)) {
    response.destroy();
    return failed(`fetch_url: not text: the content type is ${type}`);
  }
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response) {
    const bytes = Buffer.from(chunk as Uint8Array);
    size += bytes.length;
    chunks.push(bytes);
    // The beginning is still useful to the model.
    if (size > bodyBytesMax) break;
  }
  const body = Buffer.concat(chunks).toString('utf8');
  const text = shortened(type.startsWith('text/html') ? textOfHtml(body) : body);
  return statusCode < 300 ? succeeded(text) : failed(`fetch_url: status ${statusCode}\n${text}`);
}
