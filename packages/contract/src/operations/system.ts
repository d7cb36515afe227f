import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { healthRecord, readinessRecord, systemRecord } from '../resources/health.ts';

const open = { unscoped: 'Returns nothing about any organization.' } as const;
/** The name of a page, as it stands in an address below `/docs`. */
const pageName = z.string().regex(/^[a-z0-9-]{1,64}$/);

export const getHealth = defineOperation({
  id: 'get_health',
  method: 'GET',
  path: '/healthz',
  tag: 'System',
  summary: 'Liveness check',
  description: 'Succeeds while the process can answer requests. Restart it when this fails.',
  caller: 'anonymous',
  scope: open,
  responses: { 200: { description: 'The process is alive.', schema: healthRecord } },
  errors: [],
});

export const getReadiness = defineOperation({
  id: 'get_readiness',
  method: 'GET',
  path: '/readyz',
  tag: 'System',
  summary: 'Readiness check',
  description:
    'Not ready while the server starts, drains, or cannot use its storage. While it drains, the error has `status` ' +
    '(`draining`), `legs` (executing runs) and `in_flight` (their tool calls that have not ended).',
  caller: 'anonymous',
  scope: open,
  responses: { 200: { description: 'The server accepts requests.', schema: readinessRecord } },
  errors: ['not_ready'],
});

export const getOpenapi = defineOperation({
  id: 'get_openapi',
  method: 'GET',
  path: '/openapi.json',
  tag: 'System',
  summary: 'OpenAPI 3.1 document',
  description:
    'Returns the description of this API, for generators and linters. It names the address of this server.',
  caller: 'anonymous',
  scope: open,
  responses: {
    200: {
      description: 'The document.',
      schema: z.looseObject({ openapi: z.string() }),
    },
  },
  errors: [],
});

export const getDocs = defineOperation({
  id: 'get_docs',
  method: 'GET',
  path: '/docs',
  tag: 'System',
  summary: 'API reference page',
  description: 'Returns this API as a page for people, with the guides beside it.',
  caller: 'anonymous',
  scope: open,
  responses: { 200: { description: 'The page.', media: 'text/html' } },
  errors: [],
});

export const getGuide = defineOperation({
  id: 'get_guide',
  method: 'GET',
  path: '/docs/guides/{guide_name}',
  tag: 'System',
  summary: 'Guide page',
  description: 'Returns one of the guides that are served beside the API reference.',
  caller: 'anonymous',
  scope: open,
  params: {
    guide_name: pageName.meta({ description: 'Name of the guide.', examples: ['concepts'] }),
  },
  responses: { 200: { description: 'The page.', media: 'text/html' } },
  errors: ['not_found'],
});

export const getReferencePage = defineOperation({
  id: 'get_reference_page',
  method: 'GET',
  path: '/docs/reference/{page_name}',
  tag: 'System',
  summary: 'Page of the API reference',
  description: 'Returns the operations of one noun, or the events, resources, scopes or errors.',
  caller: 'anonymous',
  scope: open,
  params: {
    page_name: pageName.meta({ description: 'Name of the page.', examples: ['sessions'] }),
  },
  responses: { 200: { description: 'The page.', media: 'text/html' } },
  errors: ['not_found'],
});

export const getSearchIndex = defineOperation({
  id: 'get_search_index',
  method: 'GET',
  path: '/docs/search',
  tag: 'System',
  summary: 'Index of the search',
  description: 'Returns the search index of the pages under `/docs`.',
  caller: 'anonymous',
  scope: open,
  responses: {
    200: {
      description: 'The index.',
      schema: z.looseObject({ entries: z.array(z.array(z.string())) }),
    },
  },
  errors: [],
});

export const getSystem = defineOperation({
  id: 'get_system',
  method: 'GET',
  path: '/v1/system',
  tag: 'System',
  summary: 'Describe the server',
  description: 'Returns version, frameworks and limits, and nothing about any organization.',
  caller: 'any',
  scope: { unscoped: 'Every valid token may see what the server can do (D-54).' },
  responses: { 200: { description: 'The server.', schema: systemRecord } },
  errors: [],
});
