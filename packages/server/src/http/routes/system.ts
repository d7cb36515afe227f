import type { Docs } from '@convoke/api-page';
import {
  type OpenApiDocument,
  type SystemRecord,
  limits,
  openApiDocument,
} from '@convoke/contract';
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
  | 'get_reference_page'
  | 'get_search_index'
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
  const docs = servedDocs(() => openApiDocument({ version, baseUrl }));
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

    get_openapi: () => docs.openApi(),
    get_docs: () => docs.page('docs'),
    get_guide: ({ params }) => docs.page(`docs/guides/${params.guide_name}`),
    get_reference_page: ({ params }) => docs.page(`docs/reference/${params.page_name}`),
    get_search_index: () => docs.searchIndex(),
  };
}

const json = { 'content-type': 'application/json; charset=utf-8' };

/** The OpenAPI document and the pages of `/docs`, each rendered when it is first asked for. */
function servedDocs(document: () => OpenApiDocument) {
  let opened: Promise<{ readonly docs: Docs; readonly policy: string }> | undefined;
  const open = async () => {
    const { allGuides, createDocs, pagePolicy } = await loadPages();
    return { docs: createDocs(document(), allGuides()), policy: pagePolicy };
  };
  const rendered = new Map<string, Buffer>();
  const once = (path: string, render: () => string): Buffer => {
    const page = rendered.get(path) ?? Buffer.from(render());
    rendered.set(path, page);
    return page;
  };
  return {
    async page(path: string): Promise<RawReply> {
      opened ??= open();
      const { docs, policy } = await opened;
      // Only known paths are kept.
      if (!docs.paths.includes(path)) return refuse('not_found');
      return fileReply(
        once(path, () => docs.render(path) ?? ''),
        {
          'content-type': 'text/html; charset=utf-8',
          'content-security-policy': policy,
        },
      );
    },

    async searchIndex(): Promise<RawReply> {
      opened ??= open();
      const { docs } = await opened;
      return fileReply(once('docs/search', docs.searchIndex), json);
    },

    openApi(): RawReply {
      return fileReply(
        once('openapi.json', () => JSON.stringify(document())),
        json,
      );
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
function fileReply(content: Buffer, headers: Readonly<Record<string, string>>): RawReply {
  return {
    async write(response, base) {
      const length = { 'content-length': String(content.length) };
      response.writeHead(200, { ...base, ...headers, ...length });
      response.end(content);
    },
  };
}
