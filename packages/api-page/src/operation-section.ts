import {
  type MediaType,
  type OpenApiDocument,
  type Parameter,
  type PathOperation,
  type Ref,
  type Response,
  type Schema,
  type Html,
  html,
  joinHtml,
} from '@convoke/contract';
import { fieldTable, parameterTable } from './fields.ts';
import { anchorLink, nothing, prose } from './prose.ts';
import { callOf, parametersOf } from './samples/call.ts';
import { callSamples, codeBlock } from './samples/samples.ts';
import { itemsOf, refName, typeText } from './schema-text.ts';

export type Place = { readonly method: string; readonly path: string };

export function operationSection(
  document: OpenApiDocument,
  { method, path }: Place,
  operation: PathOperation,
): Html {
  const parameters = parametersOf(document, operation);
  const call = callOf({ method, path }, operation, parameters);
  return html`
<article class="operation" id="${operation.operationId}">
<header>
<h2>${operation.summary}${anchorLink(operation.operationId)}</h2>
<p class="route">${methodBadge(method)}<code>${routeText(path)}</code></p>
<p class="who">${whoText(operation)}</p>
</header>
<div class="columns">
<div class="reading">
<p>${prose(operation.description)}</p>
${parameterGroups(parameters)}
${requestText(document, operation)}
${responsesText(document, operation)}
</div>
<div class="samples">
${callSamples(call)}
${responseSample(document, operation)}
</div>
</div>
</article>`;
}

export function methodBadge(method: string): Html {
  return html`<span class="method ${method}">${method.toUpperCase()}</span>`;
}

/** Allows line breaks in a path only after slashes. */
function routeText(path: string): Html {
  return joinHtml(
    path
      .split(/(?<=\/)|(?=\{)|(?<=\})/)
      .map((piece) => (piece.startsWith('{') ? html`<var>${piece}</var>` : html`${piece}<wbr>`)),
  );
}

export function whoText(operation: PathOperation): Html {
  const scopes = operation.security.flatMap((one) => one['automation'] ?? []);
  const callers = operation.security.map((one) =>
    'human' in one ? 'owners and admins' : 'automation clients',
  );
  if (callers.length === 0) return html`<span class="chip">no token required</span>`;
  const who = html`<span class="chip">${callers.join(' · ')}</span>`;
  const needs = scopes.map((scope) => html`<a class="chip scope" href="#scopes">${scope}</a>`);
  return joinHtml([who, ...needs], ' ');
}

/** Parameters by where they stand. The headers that select a tenant are the same everywhere, and left out. */
export function groupsOf(parameters: readonly Parameter[]): [string, readonly Parameter[]][] {
  const groups: [string, readonly Parameter[]][] = [
    ['Path', parameters.filter(({ in: place }) => place === 'path')],
    ['Query', parameters.filter(({ in: place }) => place === 'query')],
    ['Headers', parameters.filter((one) => one.in === 'header' && !isSelector(one))],
  ];
  return groups.filter(([, group]) => group.length > 0);
}

export function isSelector({ name }: Parameter): boolean {
  return /^X-(Organization|Workspace-Tenant|Tenant)-ID$/.test(name);
}

function parameterGroups(parameters: readonly Parameter[]): Html {
  const tables = groupsOf(parameters).map(
    ([title, group]) => html`<h3>${title}</h3>${parameterTable(group)}`,
  );
  if (!parameters.some(isSelector)) return joinHtml(tables);
  return html`${tables}<p class="quiet">Requires the <a href="#selectors">organization and tenant headers</a>.</p>`;
}

function requestText(document: OpenApiDocument, { requestBody }: PathOperation): Html {
  if (!requestBody) return nothing;
  const [[type, media] = ['', undefined]] = Object.entries(requestBody.content);
  if (!media) return nothing;
  const title = html`<h3>Body <span class="note">${type}${requestBody.required ? '' : ', optional'}</span></h3>`;
  if (media.schema.format === 'binary') return html`${title}<p class="quiet">Raw bytes.</p>`;
  const variants = media.schema.oneOf;
  if (!variants) return html`${title}${fieldTable(document, media.schema)}`;
  const tables = variants.map(
    (variant) => html`<p class="variant">${typeText(variant)}</p>${fieldTable(document, variant)}`,
  );
  return html`${title}<p class="quiet">One of:</p>${tables}`;
}

function responsesText(document: OpenApiDocument, operation: PathOperation): Html {
  const responses = Object.entries(operation.responses).map(
    ([status, response]) => [status, resolveResponse(document, response)] as const,
  );
  const successes = responses.filter(([status]) => status < '400');
  const failures = Object.entries(operation['x-error-codes']);
  const codes = failures.reduce((sum, [, list]) => sum + list.length, 0);
  return html`
<h3>Responses</h3>
<ul class="answers">${successes.map(([status, response]) => responseItem(status, response))}</ul>
${bodyFields(document, successes)}
<details class="refusals"><summary>Errors <span class="note">${codes} codes</span></summary>
<ul class="answers">${failures.map(([status, list]) => errorItem(status, list))}</ul>
</details>`;
}

function responseItem(status: string, response: Response): Html {
  const bodies = Object.entries(response.content ?? {}).map(([type, media]) =>
    bodyText(type, media),
  );
  const headers = Object.entries(response.headers ?? {}).flatMap(([name, header]) =>
    'description' in header
      ? [html`<div class="quiet"><code>${name}</code> ${prose(header.description)}</div>`]
      : [],
  );
  return html`<li><span class="status ok">${status}</span><div>${prose(response.description)} ${joinHtml(bodies, ' or ')}${headers}</div></li>`;
}

function bodyText(type: string, media: MediaType): Html {
  const event = media['x-event-schema'];
  if (event) return html`<span class="type">stream of ${typeText(event)}</span>`;
  if (type !== 'application/json') return html`<span class="type">${type}</span>`;
  return html`<span class="type">${typeText(media.schema)}</span>`;
}

/** Renders the fields of the JSON bodies where they are returned, each kind once. */
function bodyFields(
  document: OpenApiDocument,
  responses: readonly (readonly [string, Response])[],
): Html {
  const bodies = responses.flatMap(([, { content = {} }]) => content['application/json'] ?? []);
  const kinds = new Map(
    bodies.flatMap(({ schema }) => shownIn(schema)).map((one) => [refName(one) ?? 'the body', one]),
  );
  const tables = Array.from(
    kinds,
    ([name, schema]) =>
      html`<details class="fields-of"><summary>Fields of ${name}</summary>${fieldTable(document, schema)}</details>`,
  );
  return joinHtml(tables);
}

/** Returns the items of a list instead of the list: readers look for the fields of an item. */
function shownIn(schema: Schema): Schema[] {
  if (refName(schema) !== undefined) return [schema];
  const items = Object.values(schema.properties ?? {}).flatMap((field) => {
    const item = typeof field === 'object' ? itemsOf(field) : undefined;
    return item && refName(item) !== undefined ? [item] : [];
  });
  return items.length > 0 ? items : [schema];
}

function errorItem(status: string, list: readonly string[]): Html {
  const codes = list.map((code) => html`<a class="code" href="#error-${code}">${code}</a>`);
  return html`<li><span class="status">${status}</span><div>${joinHtml(codes, ' ')}</div></li>`;
}

/** Renders an example of a successful response; for a stream, its frames. */
function responseSample(document: OpenApiDocument, operation: PathOperation): Html {
  // In reverse, because of 200 and 201 a first call returns 201.
  for (const [status, response] of Object.entries(operation.responses).reverse()) {
    const { content } = resolveResponse(document, response);
    if (status >= '400' || !content) continue;
    const stream = content['text/event-stream'];
    if (stream) return sample('200 · text/event-stream', String(stream.example));
    const json = content['application/json'];
    if (json) return sample(status, JSON.stringify(json.example, null, 2));
  }
  return nothing;
}

function sample(title: string, text: string): Html {
  return html`<figure><figcaption>${title}</figcaption>${codeBlock(text)}</figure>`;
}

export function resolveResponse(document: OpenApiDocument, response: Response | Ref): Response {
  if (!('$ref' in response)) return response;
  return document.components.responses[lastSegment(response)] ?? { description: '' };
}

function lastSegment({ $ref }: Ref): string {
  return $ref.slice($ref.lastIndexOf('/') + 1);
}
