import { renderApiPage } from '@convoke/api-page';
import { openApiDocument } from '@convoke/contract';
import { refuse } from '../../app/refusal.ts';
import type { Handlers } from '../handler.ts';

type SystemOperations = 'get_health' | 'get_readiness' | 'get_openapi' | 'get_docs';

export interface SystemParts {
  readonly version: string;
  readonly baseUrl: string;
  /** False while the server starts or drains, or its storage cannot be read or written. */
  readonly isReady: () => Promise<boolean>;
}

/** The page has inline styles and loads nothing. */
const pagePolicy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";

export function systemRoutes({
  version,
  baseUrl,
  isReady,
}: SystemParts): Handlers<SystemOperations> {
  let page: Buffer | undefined;
  const document = () => openApiDocument({ version, baseUrl });
  return {
    get_health: () => ({ status: 200, body: { status: 'ok' } }),

    async get_readiness() {
      if (await isReady()) return { status: 200, body: { status: 'ready' } };
      return refuse('not_ready', { retryAfterSeconds: 1 });
    },

    get_openapi: () => ({ status: 200, body: document() }),

    get_docs: () => ({
      async write(response, base) {
        page ??= Buffer.from(renderApiPage(document()));
        response.writeHead(200, {
          ...base,
          'content-type': 'text/html; charset=utf-8',
          'content-security-policy': pagePolicy,
        });
        response.end(page);
      },
    }),
  };
}
