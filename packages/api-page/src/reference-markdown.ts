import {
  errors,
  type OpenApiDocument,
  type PathOperation,
  permissionCatalog,
  type Schema,
  schemaRefPrefix,
} from '@convoke/contract';
import { type FieldRow, fieldRows, fieldType, parameterRows } from './fields.ts';
import { groupsOf, isSelector, type Place, resolveResponse, whoText } from './operation-section.ts';
import { plainText } from './plain-text.ts';
import { callOf, parametersOf } from './samples/call.ts';
import { curlOf } from './samples/curl.ts';
import { rulesText } from './schema-text.ts';
import { type ResourcePage, resourceTitles, shownSchemas } from './sections.ts';

type Entry = Place & { readonly operation: PathOperation };

/** A page of the reference as Markdown: the operations of one noun. */
export function nounMarkdown(
  document: OpenApiDocument,
  tag: { readonly name: string; readonly description: string },
  entries: readonly Entry[],
): string {
  const operations = entries.map((entry) => operationMarkdown(document, entry));
  return pageOf([`# ${tag.name}`, tag.description, ...operations]);
}

export function eventsMarkdown(document: OpenApiDocument): string {
  const events = document['x-event-types'].map(({ type, terminal, description, data }) =>
    pageOf([
      `## ${type}`,
      terminal ? `${description} It ends the run.` : description,
      fieldList(fieldRows(document, data)),
    ]),
  );
  const intro =
    'Each event comes in the envelope `RunEvent`; below are the fields of its `data`. A stream ends after a terminal event.';
  return pageOf(['# Run events', intro, ...events]);
}

export function schemasMarkdown(document: OpenApiDocument, page: ResourcePage): string {
  const schemas = shownSchemas(document, page).map(([name, { description = '' }]) => {
    const rows = fieldRows(document, { $ref: schemaRefPrefix + name });
    return pageOf([`## ${name}`, description, fieldList(rows)]);
  });
  return pageOf([`# ${resourceTitles[page]}`, ...schemas]);
}

export function scopesMarkdown(): string {
  const { profiles, scopes } = permissionCatalog();
  const scopeLines = scopes.map(
    ({ name, description, operations }) =>
      `- \`${name}\`: ${description} Operations: ${codes(operations)}.`,
  );
  const profileLines = profiles.map(
    ({ name, description, scopes: held }) => `- \`${name}\`: ${description} ${codes(held)}`,
  );
  return pageOf([
    '# Scopes and profiles',
    scopeLines.join('\n'),
    '## Profiles',
    profileLines.join('\n'),
  ]);
}

export function errorsMarkdown(): string {
  const lines = Object.entries(errors).map(
    ([code, { status, message }]) => `- \`${code}\` (${status}): ${message}`,
  );
  return pageOf(['# Error codes', lines.join('\n')]);
}

function operationMarkdown(document: OpenApiDocument, { method, path, operation }: Entry): string {
  const parameters = parametersOf(document, operation);
  const call = callOf({ method, path }, operation, parameters);
  const groups = groupsOf(parameters).map(
    ([title, group]) => `${title}:\n\n${fieldList(parameterRows(group))}`,
  );
  return pageOf([
    `## ${operation.summary}`,
    `\`${method.toUpperCase()} ${path}\` (\`${operation.operationId}\`, ${plainText(whoText(operation))})`,
    operation.description,
    parameters.some(isSelector) ? 'Requires the organization and tenant headers.' : '',
    ...groups,
    bodyMarkdown(document, operation),
    responsesMarkdown(document, operation),
    `\`\`\`sh\n${curlOf(call)}\n\`\`\``,
  ]);
}

function bodyMarkdown(document: OpenApiDocument, { requestBody }: PathOperation): string {
  const [[type, media] = ['', undefined]] = Object.entries(requestBody?.content ?? {});
  if (media === undefined) return '';
  const title = `Body (${type}${requestBody?.required ? '' : ', optional'}):`;
  if (media.schema.format === 'binary') return `${title} raw bytes.`;
  const variants: readonly Schema[] = media.schema.oneOf ?? [media.schema];
  const lists = variants.map((variant) => fieldList(fieldRows(document, variant)));
  return `${title}\n\n${lists.join('\n\nor\n\n')}`;
}

function responsesMarkdown(document: OpenApiDocument, operation: PathOperation): string {
  const answers = Object.entries(operation.responses)
    .filter(([status]) => status < '400')
    .map(([status, one]) => `- ${status}: ${resolveResponse(document, one).description}`);
  const failures = Object.entries(operation['x-error-codes']).map(
    ([status, list]) => `- ${status}: ${codes(list)}`,
  );
  return `Responses:\n\n${[...answers, ...failures].join('\n')}`;
}

function fieldList(rows: readonly FieldRow[]): string {
  if (rows.length === 0) return 'An empty object.';
  return rows
    .map(({ name, required, schema, depth }) => {
      const type = plainText(fieldType(schema)) + (required ? '' : ', optional');
      const notes = [schema.description ?? '', ...rulesText(schema).map(plainText)];
      const text = notes.filter((note) => note !== '').join(' · ');
      return `${'  '.repeat(depth)}- \`${name}\` (${type})${text === '' ? '' : `: ${text}`}`;
    })
    .join('\n');
}

function codes(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}

function pageOf(parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('\n\n');
}
