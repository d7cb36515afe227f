import { allGuides, pagePolicy, renderApiPage, renderGuidePage } from '@convoke/api-page';
import { openApiDocument } from '@convoke/contract';
import { refuse } from '../../app/refusal.ts';
import type { Handlers, RawReply } from '../handler.ts';

type SystemOperations = 'get_health' | 'get_readiness' | 'get_openapi' | 'get_docs' | 'get_guide';

export interface SystemParts {
  readonly version: string;
  readonly baseUrl: string;
  /** False while the server starts or drains, or its storage cannot be read or written. */
  readonly isReady: () => Promise<boolean>;
}

export function systemRoutes({
  version,
  baseUrl,
  isReady,
}: SystemParts): Handlers<SystemOperations> {
  const pages = new Map<string, Buffer>();
  const document = () => openApiDocument({ version, baseUrl });
  /** Renders a page when it is first asked for. */
  const once = (name: string, render: () => string): Buffer => {
    const page = pages.get(name) ?? Buffer.from(render());
    pages.set(name, page);
    return page;
  };
  return {
    get_health: () => ({ status: 200, body: { status: 'ok' } }),

    async get_readiness() {
      if (await isReady()) return { status: 200, body: { status: 'ready' } };
      return refuse('not_ready', { retryAfterSeconds: 1 });
    },

    get_openapi: () => ({ status: 200, body: document() }),

    get_docs: () => pageReply(once('', () => renderApiPage(document(), allGuides()))),

    get_guide({ params }) {
      const guide = allGuides().find(({ name }) => name === params.guide_name);
      if (guide === undefined) return refuse('not_found');
      return pageReply(once(guide.name, () => renderGuidePage(document(), guide, allGuides())));
    },
  };
}

function pageReply(page: Buffer): RawReply {
  return {
    async write(response, base) {
      response.writeHead(200, {
        ...base,
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': pagePolicy,
      });
      response.end(page);
    },
  };
}
