import { type SystemRecord, limits, openApiDocument } from '@convoke/contract';
import { refuse } from '../../app/refusal.ts';
import type { Settings } from '../../ports/settings.ts';
import type { Handlers, RawReply } from '../handler.ts';
import { isoTime } from '../../domain/iso-time.ts';

type SystemOperations =
  | 'get_health'
  | 'get_readiness'
  | 'get_openapi'
  | 'get_docs'
  | 'get_guide'
  | 'get_system';

export interface SystemParts {
  readonly version: string;
  readonly baseUrl: string;
  /** False while the server starts or drains, or its storage cannot be read or written. */
  readonly isReady: () => Promise<boolean>;
  /** Executing legs of a draining server, and their tool calls in flight; undefined while it does not drain. */
  readonly draining: () => { readonly legs: number; readonly inFlight: number } | undefined;
  /** When this server was started. */
  readonly startedAt: number;
  readonly settings: Settings;
  readonly apiRatePerMinute: number;
  readonly frameworks: () => Promise<SystemRecord['frameworks']>;
}

export function systemRoutes(parts: SystemParts): Handlers<SystemOperations> {
  const { version, baseUrl, isReady, draining } = parts;
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
      const load = draining();
      if (load === undefined) return refuse('not_ready', { retryAfterSeconds: 1 });
      const details = { status: 'draining', legs: load.legs, in_flight: load.inFlight };
      return refuse('not_ready', { retryAfterSeconds: 1, details });
    },

    async get_system() {
      return { status: 200, body: systemView(parts, await parts.frameworks()) };
    },

    get_openapi: () => documentReply(once('openapi.json', () => JSON.stringify(document()))),

    async get_docs() {
      const { allGuides, pagePolicy, renderApiPage } = await loadPages();
      const page = once('', () => renderApiPage(document(), allGuides()));
      return pageReply(page, pagePolicy);
    },

    async get_guide({ params }) {
      const { allGuides, pagePolicy, renderGuidePage } = await loadPages();
      const guide = allGuides().find(({ name }) => name === params.guide_name);
      if (guide === undefined) return refuse('not_found');
      const page = once(guide.name, () => renderGuidePage(document(), guide, allGuides()));
      return pageReply(page, pagePolicy);
    },
  };
}

/** Loads the pages when the first of them is asked for: most servers are never asked. */
function loadPages() {
  return import('@convoke/api-page');
}

function systemView(
  { version, startedAt, settings, apiRatePerMinute }: SystemParts,
  frameworks: SystemRecord['frameworks'],
): SystemRecord {
  return {
    version,
    started_at: isoTime(startedAt),
    frameworks,
    file_attachments_enabled: settings.fileAttachments,
    limits: {
      page_items: limits.pageMax,
      file_bytes: settings.maxFileBytes,
      queued_runs_per_session: settings.sessionQueueMax,
      clients_per_organization: limits.clientsPerOrganization,
      tenants_per_organization: settings.tenantsPerOrganizationMax,
      calls_per_minute: apiRatePerMinute,
    },
  };
}

/** Sends the same bytes to every reader: anyone may ask, and a copy for each would be held until it is read. */
function documentReply(document: Buffer): RawReply {
  return {
    async write(response, base) {
      response.writeHead(200, {
        ...base,
        'content-type': 'application/json; charset=utf-8',
        'content-length': String(document.length),
      });
      response.end(document);
    },
  };
}

function pageReply(page: Buffer, policy: string): RawReply {
  return {
    async write(response, base) {
      response.writeHead(200, {
        ...base,
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': policy,
      });
      response.end(page);
    },
  };
}
