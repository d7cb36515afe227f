import { type SystemRecord, limits } from '@convoke/contract';
import { refuse } from '../../app/refusal.ts';
import type { Settings } from '../../ports/settings.ts';
import type { ServedDocs } from '../docs.ts';
import type { Handlers } from '../handler.ts';
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
  readonly docs: ServedDocs;
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
  const { docs, isReady, draining } = parts;
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
