import type {
  AgentRecord,
  FeedbackRecord,
  FileRecord,
  InteractionInTenantRecord,
  InteractionRecord,
  InteractionSummary,
  MemberRecord,
  NoticeRecord,
  OverviewRecord,
  RunRecord,
  RunSummary,
  SessionHandle,
  SessionRecord,
  SessionStatus,
  SystemRecord,
  TenantInteractionsQuery,
  TenantRunsQuery,
  UsageRecord,
} from '@convoke/sdk';
import type { FeedParts } from '../data/feed.ts';
import { isVersion, ratingQuery } from '../data/run-rows.ts';
import { isLabel } from '../data/labels.ts';
import type { PageOf } from '../data/pages.ts';
import { baseUrl } from './code-flow.ts';
import { type TenantScope, accountClient, organizationClient } from './tenant-clients.ts';

/** The calls that several screens make, in the shape in which they use the answers. */

/** Rows of one page of a list. */
const pageRows = 50;

export type { InteractionSummary, RunSummary };

export interface RunsShown {
  readonly status?: string | readonly string[] | undefined;
  readonly agent?: string | undefined;
  readonly text?: string | undefined;
  readonly label?: string | undefined;
  readonly createdAfter?: string | undefined;
  readonly rating?: string | undefined;
  /** The beginning of a digest. */
  readonly version?: string | undefined;
  readonly limit?: number | undefined;
}

export function listRuns(
  { client }: TenantScope,
  { status, agent, text, label, createdAfter, rating, version, limit = pageRows }: RunsShown,
  cursor: string | undefined,
): Promise<PageOf<RunSummary>> {
  const statuses = typeof status === 'string' ? [status].filter(isSet) : status;
  return client.runs
    .list({
      status: statuses?.length === 0 ? undefined : (statuses as Statuses | undefined),
      agent_name: isSet(agent) ? agent : undefined,
      q: isSet(text) ? text : undefined,
      label: labelFilter(label),
      created_after: createdAfter,
      ...ratingQuery(rating),
      agent_digest: isVersion(version) ? version : undefined,
      limit,
      cursor,
    })
    .page();
}

type Statuses = NonNullable<TenantRunsQuery['status']>;

export async function findRun({ client }: TenantScope, id: string): Promise<RunRecord> {
  return (await client.runs.get(id)).record;
}

/** Called runs that a page shows. */
export const callsShown = 100;

/** The runs below a run, callers before those that they have called. */
export function listCalledRuns({ client }: TenantScope, id: string): Promise<PageOf<RunSummary>> {
  return client.runs.list({ ancestor_run_id: id, order: 'asc', limit: callsShown }).page();
}

export function listFeedback(
  { client }: TenantScope,
  { session_id, id }: Pick<RunRecord, 'session_id' | 'id'>,
): Promise<readonly FeedbackRecord[]> {
  return client.sessions.at(session_id).runs.at(id).feedback.list();
}

export interface InteractionsShown {
  readonly status: 'pending' | 'answered';
  readonly kind?: string | undefined;
  readonly agent?: string | undefined;
  readonly label?: string | undefined;
  readonly limit?: number | undefined;
  /** Only those that this person may allow or answer. */
  readonly isForMe?: boolean | undefined;
}

/** The request that has waited longest comes first; of answered ones, the latest. */
export function listInteractions(
  { client }: TenantScope,
  { status, kind, agent, label, limit = pageRows, isForMe = false }: InteractionsShown,
  cursor: string | undefined,
): Promise<PageOf<InteractionSummary>> {
  return client.interactions
    .list({
      status,
      kind: isSet(kind) ? (kind as TenantInteractionsQuery['kind']) : undefined,
      agent_name: isSet(agent) ? agent : undefined,
      label: labelFilter(label),
      can_allow: isForMe ? true : undefined,
      order: status === 'pending' ? 'asc' : 'desc',
      limit,
      cursor,
    })
    .page();
}

export function findInteraction(
  { client }: TenantScope,
  key: string,
): Promise<InteractionInTenantRecord> {
  return client.interactions.get(key);
}

/** A session remembers at most so many allows. */
const maxRemembered = 100;

/** The allows that the session remembers, the newest first. */
export async function listRemembered(
  { client }: TenantScope,
  session: string,
): Promise<readonly InteractionRecord[]> {
  const { interactions } = client.sessions.at(session);
  const query = { status: 'answered', remembered: true, limit: maxRemembered } as const;
  return (await interactions.list(query).page()).items;
}

export function getOverview({ client }: TenantScope): Promise<OverviewRecord> {
  return client.overview();
}

/** Agents of a tenant that are listed; more than this are found by their address. */
const maxAgents = 100;

export async function listAgents({ client }: TenantScope): Promise<readonly AgentRecord[]> {
  return (await client.agents.list({ limit: maxAgents }).page()).items;
}

/** Also the folders that do not load: where people look for an agent, they must see why it is not there. */
export async function listAllAgents({ client }: TenantScope): Promise<readonly AgentRecord[]> {
  return (await client.agents.list({ limit: maxAgents, include: 'broken' }).page()).items;
}

export interface SessionsShown {
  readonly status?: SessionStatus | undefined;
  readonly agent?: string | undefined;
  readonly label?: string | undefined;
}

export async function listSessions(
  { client }: TenantScope,
  { status, agent, label }: SessionsShown,
  cursor: string | undefined,
): Promise<PageOf<SessionRecord>> {
  const found = await client.sessions
    .list({
      status,
      agent_name: isSet(agent) ? agent : undefined,
      label: labelFilter(label),
      limit: pageRows,
      cursor,
    })
    .page();
  return { items: found.items.map(({ record }) => record), nextCursor: found.nextCursor };
}

/** Files of a session that its screens show. */
const maxFiles = 100;

export async function listFiles(
  { client }: TenantScope,
  session: string,
): Promise<readonly FileRecord[]> {
  return (await client.sessions.at(session).files.list({ limit: maxFiles }).page()).items;
}

/** Runs of a session that are shown as its conversation. */
const maxTalkedRuns = 20;

/** The newest runs of a session, oldest first. */
export async function newestRuns(session: SessionHandle): Promise<readonly RunRecord[]> {
  const page = await session.runs.list({ limit: maxTalkedRuns }).page();
  return page.items.map(({ record }) => record).toReversed();
}

/**
 * One connection to the feed, from the cursor or from now on. The SDK would wait and reconnect automatically; the page
 * does that, because it says so while it lasts.
 */
export function followEvents(
  scope: TenantScope,
  after: string | undefined,
  options: Parameters<FeedParts['connect']>[1],
): AsyncIterable<NoticeRecord> {
  const { signal, onOpen, onCursor } = options;
  const client = scope.clientWith(async (url, init) => {
    const response = await fetch(url, init);
    if (response.ok) onOpen();
    return response;
  });
  return client.feed.follow({ after, from: 'newest', signal, onCursor, patienceMs: 0 });
}

export function listMembers(
  org: string,
  cursor: string | undefined,
): Promise<PageOf<MemberRecord>> {
  return organizationClient(org).members.list({ limit: pageRows, cursor }).page();
}

export function getSystem(): Promise<SystemRecord> {
  return accountClient().system();
}

/** Whether the server is ready. It may be reachable and not ready, such as while it stops. */
export async function isServerReady(): Promise<boolean> {
  return (await fetch(`${baseUrl()}/readyz`)).ok;
}

const dayMs = 86_400_000;
const maxUsageRows = 2000;

/** Sums of the last days. A chart needs every row, so all pages are read; their number is bounded by the days. */
export async function readUsage(
  scope: TenantScope,
  query: {
    readonly days: number;
    readonly bucket?: 'day';
    readonly group_by?: 'agent' | 'model' | 'client' | `label:${string}`;
  },
): Promise<readonly UsageRecord[]> {
  const { days, ...rest } = query;
  const from = new Date(Date.now() - (days - 1) * dayMs).toISOString();
  const rows: UsageRecord[] = [];
  for await (const row of scope.client.usage.list({ ...rest, from, limit: 100 })) {
    rows.push(row);
    if (rows.length >= maxUsageRows) break;
  }
  return rows;
}

/** Words that are no label yet filter nothing. */
function labelFilter(label: string | undefined): readonly string[] | undefined {
  return label !== undefined && isLabel(label) ? [label] : undefined;
}

/** An empty field of a form is no filter. */
function isSet(value: string | undefined): value is string {
  return value !== undefined && value !== '';
}
