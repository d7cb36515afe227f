import type { ServerResponse } from 'node:http';
import type { Docs } from '@convoke/api-page';
import { openApiDocument } from '@convoke/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { refuse } from '../app/refusal.ts';
import { pageMethods } from './declared-paths.ts';
import type { RawReply } from './handler.ts';
import { baseHeaders } from './response-headers.ts';

/** The OpenAPI document and the pages of `/docs`, for people and for coding agents. */
export interface ServedDocs {
  readonly openApi: () => RawReply;
  readonly page: (path: string) => Promise<RawReply>;
  readonly searchIndex: () => Promise<RawReply>;
  readonly markdown: (path: string) => Promise<RawReply>;
  /** `llms.txt` and `llms-full.txt`. */
  readonly list: () => Promise<RawReply>;
  readonly whole: () => Promise<RawReply>;
}

const types = {
  json: { 'content-type': 'application/json; charset=utf-8' },
  markdown: { 'content-type': 'text/markdown; charset=utf-8' },
  text: { 'content-type': 'text/plain; charset=utf-8' },
} as const;

/** Loads the pages when the first of them is asked for, and renders each once: most servers are never asked. */
export function createServedDocs(at: {
  readonly version: string;
  readonly baseUrl: string;
}): ServedDocs {
  const document = () => openApiDocument(at);
  let opened: Promise<{ readonly docs: Docs; readonly policy: string }> | undefined;
  const open = async () => {
    const { allGuides, createDocs, pagePolicy } = await import('@convoke/api-page');
    return { docs: createDocs(document(), allGuides()), policy: pagePolicy };
  };
  const rendered = new Map<string, Buffer>();
  const once = (path: string, render: () => string): Buffer => {
    const page = rendered.get(path) ?? Buffer.from(render());
    rendered.set(path, page);
    return page;
  };
  /** Only known paths are kept. */
  const opening = async (path?: string) => {
    opened ??= open();
    const { docs, policy } = await opened;
    if (path !== undefined && !docs.paths.includes(path)) return refuse('not_found');
    return { docs, policy };
  };
  return {
    openApi: () =>
      fileReply(
        once('openapi.json', () => JSON.stringify(document())),
        types.json,
      ),

    async page(path) {
      const { docs, policy } = await opening(path);
      const page = once(path, () => docs.render(path) ?? '');
      const type = { 'content-type': 'text/html; charset=utf-8' };
      return fileReply(page, { ...type, 'content-security-policy': policy });
    },

    async searchIndex() {
      const { docs } = await opening();
      return fileReply(once('docs/search', docs.searchIndex), types.json);
    },

    async markdown(path) {
      const { docs } = await opening(path);
      const text = once(`${path}.md`, () => docs.markdown(path) ?? '');
      return fileReply(text, types.markdown);
    },

    async list() {
      const { docs } = await opening();
      return fileReply(once('llms.txt', docs.list), types.text);
    },

    async whole() {
      const { docs } = await opening();
      return fileReply(once('llms-full.txt', docs.whole), types.text);
    },
  };
}

/**
 * Serves what belongs to the pages and is no operation of the API: the pages as Markdown, their list for coding agents,
 * and a redirect from `/docs/`, which people type (D-750).
 */
export function mountDocs(app: FastifyInstance, docs: ServedDocs): void {
  const serve = (url: string, find: (name: string) => Promise<RawReply>) => {
    app.route<{ Params: { name?: string } }>({
      method: pageMethods,
      url,
      handler: async (request, reply) =>
        send(request, reply, await find(request.params.name ?? '')),
    });
  };
  serve('/docs.md', () => docs.markdown('docs'));
  serve('/docs/guides/:name.md', (name) => docs.markdown(`docs/guides/${name}`));
  serve('/docs/reference/:name.md', (name) => docs.markdown(`docs/reference/${name}`));
  serve('/llms.txt', docs.list);
  serve('/llms-full.txt', docs.whole);
  app.route({
    method: pageMethods,
    url: '/docs/',
    handler(request, reply) {
      const headers = { ...baseHeaders(undefined, request.id), location: '../docs' };
      return reply.code(308).headers(headers).send();
    },
  });
}

async function send(request: FastifyRequest, reply: FastifyReply, page: RawReply): Promise<void> {
  reply.hijack();
  await page.write(reply.raw, baseHeaders(undefined, request.id));
}

/** Sends the same bytes to every reader: anyone may ask, and a copy for each would be held until it is read. */
function fileReply(content: Buffer, headers: Readonly<Record<string, string>>): RawReply {
  return {
    async write(response: ServerResponse, base) {
      const length = { 'content-length': String(content.length) };
      response.writeHead(200, { ...base, ...headers, ...length });
      response.end(content);
    },
  };
}
