import { errors, type OpenApiDocument, type PathOperation, type Schema } from '@convoke/contract';
import type { Guide } from '../guides/guides.ts';
import { parametersOf } from '../samples/call.ts';
import { resourcePages, resourceTitles, shownSchemas } from '../sections.ts';
import { fieldsOf, itemsOf, resolve } from '../schema-text.ts';
import { alsoCalled, seldomMeant } from './synonyms.ts';

export type SearchEntry = {
  readonly kind: string;
  readonly title: string;
  /** Its parent: a guide, a path. */
  readonly context: string;
  /** Names that find it and are not shown. */
  readonly names: string;
  readonly text: string;
  /** The excerpt to show; absent for the beginning of the text. */
  readonly excerpt?: string;
  /** From the root of the server. */
  readonly href: string;
  /** Where two match alike, the one with more comes first. */
  readonly weight: number;
};

/** The address of an id of the reference. */
type Place = (id: string) => string;

const fieldDepth = 3;

/** Everything that the search finds. */
export function searchEntries(
  document: OpenApiDocument,
  guides: readonly Guide[],
  place: Place,
): SearchEntry[] {
  return [
    ...guides.flatMap(guideEntries),
    ...operationEntries(document, place),
    ...eventEntries(document, place),
    ...resourceEntries(document, place),
    ...Object.entries(errors).map(([code, { status, message }]) => ({
      kind: 'Error',
      title: code,
      context: String(status),
      names: 'error code',
      text: message,
      href: place(`error-${code}`),
      weight: 0.45,
    })),
    ...pageEntries(place),
  ];
}

function guideEntries({ path, name, title, sections }: Guide): SearchEntry[] {
  return sections.map(({ level, id, text, heading }) => ({
    kind: 'Guide',
    title: heading,
    context: level === 1 ? '' : title,
    names: level === 1 && heading.toLowerCase() !== name ? namesOf(path, name) : '',
    text,
    href: level === 1 ? path : `${path}#${id}`,
    weight: level === 1 ? 1.4 : 1.25,
  }));
}

/** What few callers look for comes after what answers the same query for many. */
function weightOf(method: string, id: string): number {
  if (seldomMeant.has(id)) return 0.4;
  return method === 'delete' ? 0.7 : 1.1;
}

function namesOf(path: string, name: string): string {
  return path === 'docs' ? 'getting started quickstart tutorial' : name;
}

function operationEntries(document: OpenApiDocument, place: Place): SearchEntry[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      kind: method.toUpperCase(),
      title: operation.summary,
      context: path,
      names: `${operation.operationId} ${alsoCalled[operation.operationId] ?? ''}`,
      text: textOf(document, operation),
      excerpt: operation.description,
      href: place(operation.operationId),
      weight: weightOf(method, operation.operationId),
    })),
  );
}

/** The description of an operation and the names and descriptions of its parameters and fields. */
function textOf(document: OpenApiDocument, operation: PathOperation): string {
  const parameters = parametersOf(document, operation).flatMap(({ name, description = '' }) => [
    name,
    description,
  ]);
  const bodies = Object.values(operation.requestBody?.content ?? {});
  const fields = bodies.flatMap(({ schema }) => fieldWords(document, schema, fieldDepth));
  return [operation.description, ...parameters, ...fields].join(' ');
}

function fieldWords(document: OpenApiDocument, schema: Schema, depth: number): string[] {
  if (depth === 0) return [];
  const known = resolve(document, schema);
  const inner = [known, itemsOf(known), ...(known.oneOf ?? []), ...(known.anyOf ?? [])];
  return inner.flatMap((one) =>
    one === undefined
      ? []
      : fieldsOf(one).flatMap(([name, field]) => [
          name,
          field.description ?? '',
          ...fieldWords(document, field, depth - 1),
        ]),
  );
}

function eventEntries(document: OpenApiDocument, place: Place): SearchEntry[] {
  return document['x-event-types'].map(({ type, description, data }) => ({
    kind: 'Event',
    title: type,
    context: 'Run events',
    names: '',
    text: [description, ...fieldWords(document, data, fieldDepth)].join(' '),
    excerpt: description,
    href: place(`event-${type}`),
    weight: 0.8,
  }));
}

function resourceEntries(document: OpenApiDocument, place: Place): SearchEntry[] {
  return resourcePages.flatMap((page) =>
    shownSchemas(document, page).map(([name, schema]) => ({
      kind: 'Record',
      title: name,
      context: resourceTitles[page],
      names: '',
      text: [schema.description ?? '', ...fieldWords(document, schema, 1)].join(' '),
      excerpt: schema.description ?? '',
      href: place(`schema-${name}`),
      weight: 0.6,
    })),
  );
}

/** Pages that are lists: a query for the list means them, and not one of its rows. */
function pageEntries(place: Place): SearchEntry[] {
  const entry = (title: string, id: string, text: string) => ({
    kind: 'Page',
    title,
    context: 'API reference',
    names: '',
    text,
    href: place(id),
    weight: 1.4,
  });
  return [
    entry('Error codes', 'errors', 'Every code of an error response, with its status.'),
    entry('Run events', 'events', 'Event types of a stream; reconnect with Last-Event-ID.'),
    entry('Scopes and profiles', 'scopes', 'Permissions of automation clients.'),
    entry('Resources', 'schemas', 'Fields of every record.'),
    entry('Conventions', 'conventions', 'Ids, times, errors, lists, retries and headers.'),
  ];
}
