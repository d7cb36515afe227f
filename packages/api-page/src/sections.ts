import {
  errors,
  limits,
  type OpenApiDocument,
  type Parameter,
  permissionCatalog,
  type Schema,
  schemaRefPrefix,
  type Html,
  html,
  joinHtml,
} from '@convoke/contract';
import { fieldTable, parameterTable } from './fields.ts';
import { anchorLink, prose } from './prose.ts';
import { codeBlock } from './samples/samples.ts';

const errorGuard = `source.addEventListener('error', (event) => {
  if (!(event instanceof MessageEvent)) return; // a lost connection, not the end of the run
  console.error(JSON.parse(event.data).data.message);
});`;

/** Renders the steps from a client secret to a running agent. */
export function introduction(document: OpenApiDocument): Html {
  return html`
<section id="start" class="prose">
<p class="lead">${prose(document.info.description)}</p>
<ol class="steps">
<li><a href="#issue_token">Get a token</a> with the id and secret of an automation client. It is valid for ten minutes.</li>
<li><a href="#list_workspaces">List your workspaces</a> and copy the ids of one into the <a href="#selectors">organization and tenant headers</a>.</li>
<li><a href="#create_session">Create a session</a> with an agent and <a href="#start_run">start a run</a> in it.</li>
<li><a href="#follow_run_events">Follow the run</a>, and <a href="#answer_interaction">answer</a> its questions.</li>
</ol>
</section>`;
}

export function conventions(document: OpenApiDocument): Html {
  const selectors: readonly Parameter[] = Object.values(document.components.parameters);
  const { pageMin, pageMax, pageDefault } = limits;
  return html`
<section id="conventions" class="prose">
<h2>Conventions${anchorLink('conventions')}</h2>
<dl class="rulebook">
<dt>Fields</dt><dd>A request with an unknown field is rejected. Ignore unknown response fields; optional ones may be absent.</dd>
<dt>Ids and times</dt><dd>Ids are opaque: store them unchanged. Times are RFC 3339 in UTC with milliseconds.</dd>
<dt>Errors</dt><dd>Every error response is <code>{"error", "message"?, "request_id"}</code>. Decide by <a href="#errors">the code</a>; the message is for people.</dd>
<dt>Lists</dt><dd>Pages hold ${pageMin} to ${pageMax} items, ${pageDefault} unless you set <code>limit</code> (${pageMax} for workspaces and tenants). Pass <code>next_cursor</code> back as <code>cursor</code>; the last page has no <code>next_cursor</code>.</dd>
<dt>Retries</dt><dd>Retry a create only with the same key and the same body. The response is then the first one, with <code>Idempotency-Replayed: true</code>; where the first one had a secret (of a client, a credential, a webhook or an invitation), it is 409 <a href="#error-secret_already_issued">secret_already_issued</a> with the ids. The key is the field <code>idempotency_key</code>, the header <code>Idempotency-Key</code>, or the same in both.</dd>
</dl>
<h3 id="selectors">Organization and tenant headers${anchorLink('selectors')}</h3>
<p>Every call of the application API except <a href="#list_workspaces">list_workspaces</a> names its organization and tenant. The headers select from the access of the token; they never extend it.</p>
${parameterTable(selectors)}
</section>`;
}

export function eventsSection(document: OpenApiDocument): Html {
  const events = document['x-event-types'].map(
    ({ type, terminal, description, data }) => html`
<article class="entry" id="event-${type}">
<h2>${type}${anchorLink(`event-${type}`)}${terminal ? html` <span class="chip terminal">terminal</span>` : html``}</h2>
<p>${prose(description)}</p>
${fieldTable(document, data)}
</article>`,
  );
  return html`
<section id="events">
<h1>Run events</h1>
<div class="prose">
<p>Each event comes in the envelope <a href="#schema-RunEvent">RunEvent</a>; the tables below describe its <code>data</code>. Ids order the events of one run. Store an id after you have processed its event, and send it as <code>Last-Event-ID</code> when you reconnect.</p>
<p>A stream ends after one of the three terminal types. It can also close without one: then read the run, and reconnect if it has not ended. Other types, such as <code>&lt;framework&gt;.&lt;name&gt;</code>, are never terminal.</p>
<p>An <code>EventSource</code> reconnects automatically and stops at the 204 that follows the terminal event. It reports a lost connection as <code>error</code>, too: one without data. Either guard your listener, or use <code>?event_names=off</code>, with which <code>onmessage</code> receives events of every type. <a href="../guides/stream-to-a-browser">More about browsers</a></p>
${codeBlock(errorGuard)}
</div>
<div class="entries">${events}</div>
</section>`;
}

export function errorsSection(): Html {
  const rows = Object.entries(errors).map(
    ([code, { status, message }]) =>
      html`<tr id="error-${code}"><th scope="row"><code>${code}</code></th><td><span class="status">${status}</span></td><td>${prose(message)}</td></tr>`,
  );
  return html`
<section id="errors">
<h1>Error codes</h1>
<p class="prose"><code>session_terminal</code> is 412 when a request creates a session again with the same key; all other codes always have this status.</p>
<div class="scroll"><table class="plain"><tbody>${rows}</tbody></table></div>
</section>`;
}

export function scopesSection(): Html {
  const { profiles, scopes } = permissionCatalog();
  const profileRows = profiles.map(
    ({ name, description, scopes: held }) =>
      html`<tr><th scope="row"><code>${name}</code></th><td>${description}<div class="quiet">${joinHtml(
        held.map((scope) => html`<code>${scope}</code>`),
        ' ',
      )}</div></td></tr>`,
  );
  const scopeRows = scopes.map(
    ({ name, description, operations }) =>
      html`<tr><th scope="row"><code>${name}</code></th><td>${description}<div class="quiet">${joinHtml(
        operations.map((id) => html`<a href="#${id}">${id}</a>`),
        ' ',
      )}</div></td></tr>`,
  );
  return html`
<section id="scopes">
<h1>Scopes and profiles</h1>
<p class="prose">An automation client has a profile, a named set of scopes; <code>custom</code> lists the scopes. Owners and admins are authorized by their role.</p>
<div class="scroll"><table class="plain"><tbody>${scopeRows}</tbody></table></div>
<h2>Profiles</h2>
<div class="scroll"><table class="plain"><tbody>${profileRows}</tbody></table></div>
</section>`;
}

/** The page of a resource: those that only the management of an organization uses have one of their own. */
export const resourcePages = ['resources', 'management-resources'] as const;
export type ResourcePage = (typeof resourcePages)[number];

export const resourceTitles: Readonly<Record<ResourcePage, string>> = {
  resources: 'Resources',
  'management-resources': 'Resources of the management',
};

const managementRoot = '/v1/organizations';

/** The resources; the types of events have their own section, and share the envelope that is shown here. */
export function shownSchemas(document: OpenApiDocument, page: ResourcePage): [string, Schema][] {
  const paths = Object.entries(document.paths);
  const used = namesUsedBy(
    document,
    paths.filter(([path]) => !path.startsWith(managementRoot)),
  );
  const managed = namesUsedBy(
    document,
    paths.filter(([path]) => path.startsWith(managementRoot)),
  );
  const isOfPage = (name: string) =>
    (managed.has(name) && !used.has(name)) === (page === 'management-resources');
  return describedSchemas(document).filter(([name]) => isOfPage(name));
}

/** Names of schemas that these parts of the document refer to, also through other schemas. */
function namesUsedBy({ components }: OpenApiDocument, parts: unknown): ReadonlySet<string> {
  const found = new Set<string>();
  const look = (part: unknown) => {
    for (const [, name = ''] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (found.has(name)) continue;
      found.add(name);
      look(components.schemas[name] ?? {});
    }
  };
  look(parts);
  return found;
}

function describedSchemas(document: OpenApiDocument): [string, Schema][] {
  const { schemas } = document.components;
  const hidden = new Set(document['x-event-types'].map(({ data }) => data.$ref));
  for (const name of ['RunEvent', 'KnownRunEvent']) {
    for (const event of schemas[name]?.oneOf ?? []) hidden.add(event.$ref ?? '');
  }
  return Object.entries(schemas).filter(([name]) => !hidden.has(schemaRefPrefix + name));
}

export function schemasSection(document: OpenApiDocument, page: ResourcePage): Html {
  const entries = shownSchemas(document, page).map(
    ([name, schema]) => html`
<article class="entry" id="schema-${name}">
<h2>${name}${anchorLink(`schema-${name}`)}</h2>
<p>${prose(schema.description ?? '')}</p>
${fieldTable(document, { $ref: schemaRefPrefix + name })}
</article>`,
  );
  return html`<section id="${page === 'resources' ? 'schemas' : page}"><h1>${resourceTitles[page]}</h1><div class="entries">${entries}</div></section>`;
}
