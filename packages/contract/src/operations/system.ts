import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { healthRecord, readinessRecord } from '../resources/health.ts';

const open = { unscoped: 'Says nothing about any organization.' } as const;

export const getHealth = defineOperation({
  id: 'get_health',
  method: 'GET',
  path: '/healthz',
  tag: 'System',
  summary: 'Is the process alive',
  caller: 'anonymous',
  scope: open,
  responses: { 200: { description: 'It answers.', schema: healthRecord } },
  errors: [],
});

export const getReadiness = defineOperation({
  id: 'get_readiness',
  method: 'GET',
  path: '/readyz',
  tag: 'System',
  summary: 'Does the server take requests',
  description: 'Not ready while the server starts, while it drains, and while its storage is away.',
  caller: 'anonymous',
  scope: open,
  responses: { 200: { description: 'It does.', schema: readinessRecord } },
  errors: ['not_ready'],
});

export const getOpenapi = defineOperation({
  id: 'get_openapi',
  method: 'GET',
  path: '/openapi.json',
  tag: 'System',
  summary: 'This description as OpenAPI 3.1',
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
  summary: 'This description as a page to read',
  caller: 'anonymous',
  scope: open,
  responses: { 200: { description: 'The page.', media: 'text/html' } },
  errors: [],
});
