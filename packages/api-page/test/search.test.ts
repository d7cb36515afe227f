import { openApiDocument } from '@convoke/contract';
import { expect, test } from 'vitest';
import { allGuides, createDocs } from '../src/api-page.ts';
import { type SearchIndex, rank } from '../src/search/rank.ts';
import { synonyms } from '../src/search/synonyms.ts';
import { wordsOf } from '../src/search/words.ts';

const indexMaxBytes = 400_000;

const docs = createDocs(openApiDocument({ version: '1.2.3' }), allGuides());
const text = docs.searchIndex();
const index = JSON.parse(text) as SearchIndex;

/** What new users typed, and the page or section that has to be among the first three. */
const queries: readonly (readonly [query: string, place: string])[] = [
  ['approve', 'docs/reference/interactions#answer_interaction'],
  ['verify webhook', 'docs/guides/webhooks'],
  ['python', 'docs/guides/use-python'],
  ['cost', 'docs/guides/usage-and-budgets'],
  ['crash', 'docs/guides/durable-runs'],
  ['docker', 'docs/guides/deploy'],
  ['sso', 'docs/guides/people'],
  ['oidc', 'docs/guides/people'],
  ['mcp', 'docs/guides/write-an-agent'],
  ['reconnect', 'docs/reference/events'],
  ['Last-Event-ID', 'docs/reference/runs#follow_run_events'],
  ['start a run', 'docs/reference/runs#start_run'],
  ['cancel', 'docs/reference/runs#cancel_run'],
  ['upload a file', 'docs/reference/files#upload_file'],
  ['rotate secret', 'docs/guides/people'],
  ['rate limit', 'docs/reference/errors#error-rate_limited'],
  ['idempotency key', 'docs/guides/concepts#retries-that-are-safe'],
  ['backup', 'docs/guides/operate#backup'],
  ['kubernetes', 'docs/guides/deploy'],
  ['postgres', 'docs/guides/move-a-deployment'],
  ['cron', 'docs/guides/schedules'],
  ['budget', 'docs/guides/usage-and-budgets'],
  ['error codes', 'docs/reference/errors'],
  ['browser', 'docs/guides/stream-to-a-browser'],
  ['install sdk', 'docs/guides/use-the-sdk'],
  ['audit log', 'docs/reference/organizations#list_audit'],
  ['idempotency', 'docs/guides/concepts#retries-that-are-safe'],
];

/** Our own, and those of the newcomers for which no guide was among the first three. */
const ours: typeof queries = [
  ['invite', 'docs/guides/people#invite-people'],
  ['timeout', 'docs/guides/use-python'],
  ['getting started', 'docs'],
  ['langgraph', 'docs/guides/agent-frameworks'],
  ['openai agents', 'docs/guides/agent-frameworks#openai-agents-sdk'],
  ['mastra', 'docs/guides/agent-frameworks#mastra'],
  ['useChat', 'docs/guides/chat-in-a-browser'],
  ['copilotkit', 'docs/guides/ag-ui'],
  ['zed', 'docs/guides/editors-and-assistants'],
  ['labels', 'docs/guides/feed#labels'],
  ['prometheus', 'docs/guides/operate#metrics'],
  ['sandbox', 'docs/guides/write-an-agent#sandbox'],
  ['s3', 'docs/guides/operate#files-in-s3'],
  ['delete a tenant', 'docs/guides/people#offboard-a-tenant'],
  ['test an agent', 'docs/guides/agents-as-code#test-it'],
  ['python agent', 'docs/guides/agents-as-code#in-python'],
  ['kill -9', 'docs/guides/durable-runs'],
  ['several servers', 'docs/guides/cluster'],
  ['webhook signature', 'docs/guides/webhooks'],
  ['upgrade', 'docs/guides/move-a-deployment#upgrade-without-downtime'],
  ['trust', 'docs/guides/trust'],
  ['sleep', 'docs/guides/long-work'],
  ['wait for a message', 'docs/guides/long-work'],
  ['human in the loop', 'docs/guides/sdk#questions-and-approvals'],
  ['retry', 'docs/guides/concepts#retries-that-are-safe'],
  ['pagination', 'docs/guides/feed#lists'],
  ['opentelemetry', 'docs/guides/traces'],
  ['timezone', 'docs/guides/schedules'],
  ['cors', 'docs/guides/stream-to-a-browser'],
  ['vscode', 'docs/guides/editors-and-assistants'],
  ['claude desktop', 'docs/guides/editors-and-assistants'],
  ['helm', 'docs/guides/deploy#kubernetes'],
  ['gdpr', 'docs/guides/people#offboard-a-tenant'],
  ['billing', 'docs/guides/usage-and-budgets'],
  ['rules', 'docs/guides/rules'],
  ['feed', 'docs/guides/feed'],
  ['thumbs up', 'docs/guides/feedback'],
  ['connect github', 'docs/guides/connections#connect-by-a-link'],
  ['json schema', 'docs/guides/typed-runs#an-agent-with-schemas'],
  ['structured output', 'docs/guides/typed-runs'],
  ['call another agent', 'docs/guides/long-work#call-other-agents'],
  ['attachments', 'docs/reference/files#upload_file'],
  ['websocket', 'docs/guides/stream-to-a-browser'],
  ['nextjs', 'docs/guides/chat-in-a-browser'],
  ['nginx', 'docs/guides/cluster'],
  ['rust', 'docs/guides/generate-a-client'],
  ['shutdown', 'docs/guides/durable-runs#when-a-server-is-stopped'],
  ['unit test', 'docs/guides/agents-as-code#test-it'],
  ['delete session', 'docs/reference/sessions#stop_session'],
  ['windows', 'docs/guides/operate#the-sandbox-for-agents-that-are-programs'],
];

test.each([...queries, ...ours])('"%s" finds %s among the first three', (query, place) => {
  const found = search(query).slice(0, 3);
  const isFound = found.some((href) => href === place || href.startsWith(`${place}#`));
  expect([isFound, found]).toEqual([true, found]);
});

test('there are 27 of them and more than 20 of ours, and 20 to 45 words have synonyms', () => {
  expect(queries).toHaveLength(27);
  expect(ours.length).toBeGreaterThanOrEqual(20);
  expect(Object.keys(synonyms).length).toBeGreaterThanOrEqual(20);
  expect(Object.keys(synonyms).length).toBeLessThanOrEqual(45);
});

test.each([
  ['approving', 'approval'],
  ['cancelled', 'cancellation'],
  ['running', 'runs'],
  ['prices', 'pricing'],
  ['verifyWebhook', 'verify webhook'],
  ['retries', 'retry'],
])('%s and %s are the same words', (one, other) => {
  const stems = (words: string) => wordsOf(words).map(({ stem }) => stem);
  expect(stems(one)).toEqual(stems(other));
});

test('a query that begins with what was asked for has the whole word first', () => {
  expect(search('retry')[0]).toBe('docs/guides/concepts#retries-that-are-safe');
  expect(search('feed')[0]).toBe('docs/guides/feed');
  expect(search('oidc')[0]).toBe('docs/guides/people#connect-your-identity-provider');
  expect(search('mcp')[0]).toBe('docs/guides/write-an-agent#mcp-servers');
  expect(search('idempotency key')[0]).toBe('docs/guides/concepts#retries-that-are-safe');
});

test('words are found that are written apart here, and words that are one here', () => {
  expect(search('opentelemetry')).toEqual(search('open telemetry'));
  expect(search('time zone')[0]).toBe(search('timezone')[0]);
});

test('a field is found by its name, and a word by its beginning', () => {
  expect(search('idempotency_key')).toContain('docs/reference/runs#start_run');
  expect(search('sched')[0]).toMatch(/schedule/);
});

test.each(['zzzzqqqq', '', '   ', 'constructor __proto__', '<script>'])(
  '%j is a query like any other',
  (query) => {
    expect(search(query).length).toBeLessThanOrEqual(20);
  },
);

test('the index is small enough for a browser, and every entry leads to a page', () => {
  expect(Buffer.byteLength(text)).toBeLessThan(indexMaxBytes);
  expect(index.entries.length).toBeGreaterThan(300);
  for (const [, , , , href] of index.entries) expect(docs.paths).toContain(href.split('#')[0]);
});

function search(query: string): string[] {
  return rank(index, wordsOf(query)).map((at) => index.entries[at]?.[4] ?? '');
}
