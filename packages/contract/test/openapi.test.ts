import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { referenceFiles } from '../scripts/reference.ts';
import {
  errorsOf,
  eventTypes,
  interactionRecord,
  openApiDocument,
  operationList,
  requiredScopes,
  statusesOf,
} from '../src/index.ts';

const document = openApiDocument({ version: '1.2.3' });

/** Every object inside the document with its path, the document itself included. */
function* nodes(value: unknown, path = '#'): Generator<[string, Record<string, unknown>]> {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* nodes(item, `${path}/${index}`);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  const node = Object.fromEntries(Object.entries(value));
  yield [path, node];
  for (const [key, child] of Object.entries(node)) {
    yield* nodes(child, `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`);
  }
}

type Discriminator = { readonly mapping?: Readonly<Record<string, string>> };

function text({ code, status }: { readonly code: string; readonly status: number }): string {
  return `${status} ${code}`;
}

describe('the OpenAPI document', () => {
  const all = new Map(nodes(document));

  test('has no broken references', () => {
    const broken = [...all.values()].flatMap(({ $ref }) =>
      typeof $ref === 'string' && !all.has($ref) ? [$ref] : [],
    );
    expect(broken).toEqual([]);
  });

  test('has no unused component', () => {
    const refs = new Set([...all.values()].map(({ $ref }) => $ref));
    for (const [group, members] of Object.entries(document.components)) {
      if (group === 'securitySchemes') continue;
      for (const name of Object.keys(members))
        expect(refs).toContain(`#/components/${group}/${name}`);
    }
  });

  test('describes every operation once, with its id, statuses and scopes', () => {
    const described = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
    );
    expect(described).toHaveLength(operationList.length);
    for (const declared of operationList) {
      const found = document.paths[declared.path]?.[declared.method.toLowerCase()];
      expect(found?.operationId).toBe(declared.id);
      expect(Object.keys(found?.responses ?? {})).toEqual(statusesOf(declared).map(String));
      const scopes = (found?.security ?? []).flatMap(({ automation = [] }) => automation);
      expect(scopes).toEqual(requiredScopes(declared));
    }
  });

  test('declares exactly the parameters of each path', () => {
    for (const [path, methods] of Object.entries(document.paths)) {
      const inPath = Array.from(path.matchAll(/\{([a-z_]+)\}/g), ([, name]) => name);
      for (const { parameters = [] } of Object.values(methods)) {
        const declared = parameters.flatMap((one) =>
          'in' in one && one.in === 'path' ? [one.name] : [],
        );
        expect([path, ...declared]).toEqual([path, ...inPath]);
      }
    }
  });

  test('has the shape of OpenAPI 3.1', () => {
    expect(document.openapi).toBe('3.1.0');
    const tags = new Set(document.tags.map(({ name }) => name));
    const schemes = Object.keys(document.components.securitySchemes);
    for (const methods of Object.values(document.paths)) {
      for (const [method, operation] of Object.entries(methods)) {
        expect(['get', 'post', 'put', 'patch', 'delete']).toContain(method);
        for (const tag of operation.tags) expect(tags.has(tag)).toBe(true);
        for (const one of operation.security) expect(schemes).toContain(Object.keys(one)[0]);
        for (const response of Object.values(operation.responses)) {
          expect('$ref' in response || response.description.length > 0).toBe(true);
        }
      }
    }
    for (const group of Object.values(document.components)) {
      for (const name of Object.keys(group)) expect(name).toMatch(/^[a-zA-Z0-9._-]+$/);
    }
  });

  // Spec §9.2: answers may grow.
  test('forbids unknown fields in requests and allows them in responses', () => {
    const closed = [...all].filter(([, node]) => node['additionalProperties'] === false);
    expect(closed.length).toBeGreaterThan(10);
    for (const [path] of closed) {
      expect(path).toMatch(
        /requestBody|schemas\/(PermissionAnswer$|Question(Answer|Declined)$|ConnectionAuth\/)/,
      );
    }
  });

  test('describes every value', () => {
    const undescribed = [...all].filter(
      ([path, node]) => /\/properties\/[^/]+$/.test(path) && Object.keys(node).length === 0,
    );
    // What a tool takes is the one thing that only the tool knows.
    for (const [path] of undescribed) expect(path).toMatch(/tool_input$/);
  });

  test('describes every operation in a sentence, and shows an example of it', () => {
    for (const operation of Object.values(document.paths).flatMap((one) => Object.values(one))) {
      expect(operation.description).toMatch(/^[A-Z].*\.$/s);
      const shown = [...nodes(operation)].filter(([, node]) => node['example'] !== undefined);
      // A page for people has none.
      if (shown.length === 0) expect(operation.operationId).toBe('get_docs');
    }
  });

  test('declares the errors of all operations once, and names the codes of each', () => {
    for (const declared of operationList) {
      const found = document.paths[declared.path]?.[declared.method.toLowerCase()];
      const failures = Object.entries(found?.responses ?? {}).filter(([status]) => status >= '400');
      for (const [, response] of failures) expect(Object.keys(response)).toEqual(['$ref']);
      const codes = Object.entries(found?.['x-error-codes'] ?? {}).flatMap(([status, list]) =>
        list.map((code) => ({ code, status: Number(status) })),
      );
      expect(new Set(codes.map(text))).toEqual(new Set(errorsOf(declared).map(text)));
    }
  });

  test('types the events by their type, and leaves room for others', () => {
    const { RunEvent, KnownRunEvent, OtherRunEvent } = document.components.schemas;
    expect(RunEvent?.oneOf?.map(({ $ref }) => $ref)).toEqual([
      '#/components/schemas/KnownRunEvent',
      '#/components/schemas/OtherRunEvent',
    ]);
    const { mapping = {} } = (KnownRunEvent?.['discriminator'] ?? {}) as Discriminator;
    expect(KnownRunEvent?.['discriminator']).toMatchObject({ propertyName: 'type' });
    expect(Object.keys(mapping)).toEqual(Object.keys(eventTypes));
    for (const [type, $ref] of Object.entries(mapping)) {
      expect(all.get(`${$ref}/properties/type`)).toEqual({ type: 'string', const: type });
      expect(KnownRunEvent?.oneOf).toContainEqual({ $ref });
    }
    expect(OtherRunEvent?.properties?.['type']).toMatchObject({
      not: { enum: Object.keys(eventTypes) },
    });
  });

  test('documents its streams as server-sent events', () => {
    const streams = [...all].filter(([path]) => path.endsWith('content/text~1event-stream'));
    const schemas = streams.map(([, media]) => JSON.stringify(media['x-event-schema']));
    const run = '{"$ref":"#/components/schemas/RunEvent"}';
    const numbered = schemas.filter((schema) => schema.includes('$ref')).toSorted();
    expect(numbered).toEqual(['{"$ref":"#/components/schemas/Notice"}', run, run]);
    const chunks = streams.filter(([, media]) => String(media['example']).endsWith('[DONE]'));
    const responses = streams.filter(([, media]) => String(media['example']).includes('jsonrpc'));
    expect(responses).toHaveLength(3);
    expect(chunks).toHaveLength(schemas.length - numbered.length - responses.length);
  });

  test('offers the shapes of an answer as alternatives', () => {
    const path = '/v1/sessions/{session_id}/interactions/{interaction_key}/answer';
    const schema = document.paths[path]?.['post']?.requestBody?.content['application/json']?.schema;
    expect(schema?.oneOf).toHaveLength(3);
  });

  test('is deterministic and names its server', () => {
    expect(JSON.stringify(openApiDocument({ version: '1.2.3' }))).toBe(JSON.stringify(document));
    const served = openApiDocument({ version: '1', baseUrl: 'https://convoke.example' });
    expect(served.servers).toMatchObject([{ url: 'https://convoke.example' }]);
  });

  test('shows examples that its own schemas accept', () => {
    const { examples = [] } = document.components.schemas['Interaction'] ?? {};
    expect(z.array(interactionRecord).min(1).parse(examples)).toEqual(examples);
  });
});

// Generated files are checked in; `npm run reference` renews them.
test.each(Object.entries(referenceFiles()))('docs/reference/%s is current', async (name, text) => {
  const file = new URL(`../../../docs/reference/${name}`, import.meta.url);
  expect(await readFile(file, 'utf8')).toBe(text);
});
