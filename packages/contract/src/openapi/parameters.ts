import { z } from 'zod';
import { exampleId, idPattern } from '../ids.ts';
import { type Operation, pathParams } from '../operation.ts';
import type { Parameter, Ref, Schema } from './document.ts';
import type { SchemaWriter } from './schemas.ts';

const selectors = ['OrganizationSelector', 'WorkspaceTenantSelector', 'TenantSelector'] as const;

/** Spec 4.1: the headers that select the organization and the tenant. */
export const selectorParameters: Readonly<Record<(typeof selectors)[number], Parameter>> = {
  OrganizationSelector: {
    name: 'X-Organization-ID',
    in: 'header',
    required: true,
    description: '`organization_id` of the selected workspace.',
    schema: { type: 'string', pattern: idPattern.source },
    example: exampleId('organization'),
  },
  WorkspaceTenantSelector: {
    name: 'X-Workspace-Tenant-ID',
    in: 'header',
    required: false,
    description: '`tenant.tenant_id` of the same workspace. Required, unless X-Tenant-ID is sent.',
    schema: { type: 'string', pattern: idPattern.source },
    example: exampleId('tenant'),
  },
  TenantSelector: {
    name: 'X-Tenant-ID',
    in: 'header',
    required: false,
    description: 'Alternative to X-Workspace-Tenant-ID, if the administrator configured it.',
    schema: { type: 'string', pattern: idPattern.source },
  },
};

export function parametersOf(operation: Operation, writer: SchemaWriter): (Parameter | Ref)[] {
  return [
    ...pathParameters(operation, writer),
    ...objectParameters(operation.query ?? z.object({}), 'query', writer),
    ...objectParameters(z.object(operation.headers ?? {}), 'header', writer),
    ...(operation.caller === 'automation' ? selectors.map(selectorRef) : []),
  ];
}

function pathParameters(operation: Operation, writer: SchemaWriter): Parameter[] {
  const declared = operation.params ?? {};
  return pathParams(operation.path).flatMap((name) => {
    const schema = declared[name];
    if (!schema) return [];
    return [parameter('path', writer.write(schema, 'input'), { name, required: true })];
  });
}

function objectParameters(
  object: z.ZodObject,
  place: 'query' | 'header',
  writer: SchemaWriter,
): Parameter[] {
  const { properties = {}, required = [] } = writer.write(object, 'input');
  return Object.entries(properties).flatMap(([name, property]) =>
    typeof property === 'boolean'
      ? []
      : [parameter(place, property, { name, required: required.includes(name) })],
  );
}

function parameter(
  place: Parameter['in'],
  property: Schema,
  { name, required }: { name: string; required: boolean },
): Parameter {
  const { description, examples, ...schema } = property;
  return {
    name: place === 'header' ? headerName(name) : name,
    in: place,
    required,
    ...(description === undefined ? {} : { description }),
    schema,
    ...(examples?.[0] === undefined ? {} : { example: examples[0] }),
  };
}

/** Writes `last-event-id` as the specification does: `Last-Event-ID`. */
function headerName(name: string): string {
  return name
    .split('-')
    .map((word) => (word === 'id' ? 'ID' : word.charAt(0).toUpperCase() + word.slice(1)))
    .join('-');
}

function selectorRef(name: (typeof selectors)[number]): Ref {
  return { $ref: `#/components/parameters/${name}` };
}
