import type { OpenApiDocument, Parameter, PathOperation, Schema } from '@convoke/contract';
import { fieldsOf, itemsOf, resolve } from './schema-text.ts';

/** Returns a value that matches the schema: its first example, or the smallest value with the required fields. */
export function exampleOf(document: OpenApiDocument, schema: Schema): unknown {
  const target = resolve(document, schema);
  const [example] = target.examples ?? [];
  if (example !== undefined) return example;
  if (target.const !== undefined) return target.const;
  if (target.default !== undefined) return target.default;
  if (target.enum) return target.enum[0];
  const [variant] = target.oneOf ?? target.anyOf ?? [];
  if (variant) return exampleOf(document, variant);
  return exampleOfType(document, target);
}

function exampleOfType(document: OpenApiDocument, schema: Schema): unknown {
  if (schema.type === 'object') return exampleObject(document, schema);
  if (schema.type === 'array') {
    const items = itemsOf(schema);
    return items ? [exampleOf(document, items)] : [];
  }
  if (schema.type === 'integer') return schema.minimum ?? 1;
  if (schema.type === 'boolean') return true;
  return '…';
}

function exampleObject(document: OpenApiDocument, schema: Schema): Record<string, unknown> {
  const required = schema.required ?? [];
  return Object.fromEntries(
    fieldsOf(schema)
      .filter(([name]) => required.includes(name))
      .map(([name, field]) => [name, exampleOf(document, field)]),
  );
}

export type Call = {
  readonly method: string;
  readonly path: string;
  readonly operation: PathOperation;
  readonly parameters: readonly Parameter[];
};

/** Renders the operation as a curl command with shell variables for ids and secrets. */
export function curlOf(document: OpenApiDocument, call: Call): string {
  const url = `"$CONVOKE${call.path.replace(/\{([a-z_]+)\}/g, (_, name: string) => shellVariable(name))}"`;
  const lines = [curlStart(call, url), ...headerLines(call), ...bodyLines(document, call)];
  return lines.join(' \\\n  ');
}

function curlStart({ method, operation }: Call, url: string): string {
  const streams = operation.responses['200'];
  const stream = streams && 'content' in streams && streams.content?.['text/event-stream'];
  const flags = stream ? 'curl -N' : 'curl';
  const implied = method === 'get' || (method === 'post' && operation.requestBody?.required);
  return implied ? `${flags} ${url}` : `${flags} -X ${method.toUpperCase()} ${url}`;
}

function headerLines({ operation, parameters }: Call): string[] {
  const lines: string[] = [];
  const [security] = operation.security;
  if (security) lines.push('-H "Authorization: Bearer $TOKEN"');
  for (const { name, in: place, required } of parameters) {
    if (place !== 'header') continue;
    if (name === 'X-Organization-ID') lines.push('-H "X-Organization-ID: $ORGANIZATION_ID"');
    else if (name === 'X-Workspace-Tenant-ID') lines.push('-H "X-Workspace-Tenant-ID: $TENANT_ID"');
    else if (required) lines.push(`-H "${name}: $(uuidgen)"`);
  }
  return lines;
}

function bodyLines(document: OpenApiDocument, { operation }: Call): string[] {
  const content = operation.requestBody?.content ?? {};
  const json = content['application/json'];
  if (json && operation.requestBody?.required) {
    const body = JSON.stringify(exampleOf(document, json.schema));
    return ['-H "Content-Type: application/json"', `-d '${body}'`];
  }
  if (content['application/x-www-form-urlencoded']) {
    return ['-u "$CLIENT_ID:$CLIENT_SECRET"', '-d grant_type=client_credentials'];
  }
  return content['application/octet-stream'] ? ['--data-binary @report.pdf'] : [];
}

function shellVariable(name: string): string {
  return `$${name.toUpperCase()}`;
}
