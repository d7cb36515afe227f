import {
  type InteractionFilter,
  type InteractionKey,
  type InteractionKind,
  type RunId,
  limits,
} from '@convoke/contract';
import { timeText } from '../domain/id-time.ts';
import { interactionAt, statusAt } from '../domain/interaction.ts';
import { type Label, hasLabels } from '../domain/labels.ts';
import { callersOf, pathOf } from '../domain/run/ancestry.ts';
import {
  type RunListFilter,
  type RunSummary,
  type RunWalk,
  matchesRun,
  walksOf,
} from '../domain/run/run-summary.ts';
import type { Run } from '../domain/run/run.ts';
import type { TenantScope } from '../domain/scope.ts';
import type { PageRequest } from '../ports/page.ts';
import type {
  InteractionInTenant,
  InteractionTopic,
  ListedInteraction,
  RunRange,
  TenantListRepository,
  TenantOverview,
} from '../ports/repositories/runs/tenant-lists.ts';
import { refuse } from './refusal.ts';
import {
  type AllowingReader,
  type ShownAllowing,
  allowingAsAsked,
  allowingNow,
} from './rules/shown-allowing.ts';
import type { Services } from './services.ts';

/** D-253: rows that one page looks at, at most. */
export const lookedAtMax = 5_000;
/** Rows of a read that follows the first one of a page. */
const laterRead = 300;

/** A part of a list. Rows up to `lookedTo` were looked at; `isCut` says that there may be more. */
export interface PartialList<Item> {
  readonly items: readonly Item[];
  readonly isCut: boolean;
  readonly lookedTo: string | undefined;
}

export interface RunListRequest {
  readonly filter: RunListFilter;
  /** Only runs that this one, or a run below it, has called. */
  readonly ancestorRunId?: RunId | undefined;
  readonly page: PageRequest;
}

/** Lists runs of the whole tenant that match a filter. */
export async function listTenantRuns(
  { store }: Pick<Services, 'store'>,
  scope: TenantScope,
  request: RunListRequest,
): Promise<PartialList<RunSummary>> {
  const { page, ancestorRunId, filter: given } = request;
  const ancestor = ancestorRunId && (await store.read.runs.findById(scope, ancestorRunId));
  // A run of another tenant has called as many as one that does not exist.
  if (ancestorRunId !== undefined && ancestor === undefined) {
    return { items: [], isCut: false, lookedTo: undefined };
  }
  const filter = ancestor === undefined ? given : { ...given, below: pathOf(ancestor) };
  const walks = walksOf(filter);
  const bounds = idBounds(filter);
  const found = await Promise.all(
    walks.map((walk: RunWalk) =>
      lookAtRuns(
        store.read.tenantLists,
        { scope, walk, filter },
        {
          ...page,
          ...bounds,
          // The work of a page is that of one walk, however many there are.
          most: Math.ceil(lookedAtMax / walks.length),
        },
      ),
    ),
  );
  return merged(found, page, (run) => run.id);
}

/**
 * Has the database look at up to `most` rows of a walk: it returns only those that may match, which costs a tenth of
 * returning all of them.
 */
async function lookAtRuns(
  lists: TenantListRepository,
  { scope, walk, filter }: { scope: TenantScope; walk: RunWalk; filter: RunListFilter },
  { most, ...range }: RunRange & { readonly most: number },
): Promise<PartialList<RunSummary>> {
  const items: RunSummary[] = [];
  const isOpen = Object.values(filter).every((value) => value === undefined);
  const upTo = isOpen ? undefined : await lists.lastOf(scope, walk, { ...range, limit: most });
  let { after } = range;
  for (let isFirst = true; ; isFirst = false) {
    const limit = isFirst ? range.limit : laterRead;
    const rows = await lists.runs(scope, walk, { ...range, after, limit, upTo, filter });
    for (const row of rows) {
      after = row.id;
      if (!matchesRun(row, filter)) continue;
      items.push(row);
      if (items.length === range.limit) return { items, isCut: true, lookedTo: row.id };
    }
    if (rows.length < limit) return { items, isCut: upTo !== undefined, lookedTo: upTo ?? after };
  }
}

/** Ids begin with a time, which may differ a little from `created_at`; the exact bound is part of the filter. */
const idTimeSlackMs = 60_000;

function idBounds({ createdAfter, createdBefore }: RunListFilter) {
  const idAt = (ms: number) => `run_${timeText(Math.max(0, ms))}`;
  return {
    from: createdAfter === undefined ? undefined : idAt(createdAfter - idTimeSlackMs),
    until: createdBefore === undefined ? undefined : idAt(createdBefore + idTimeSlackMs),
  };
}

interface Look<Item> {
  readonly page: PageRequest;
  readonly most: number;
  readonly read: (range: PageRequest) => Promise<readonly Item[]>;
  readonly idOf: (item: Item) => string;
  readonly isWanted: (item: Item) => boolean;
}

/** Reads rows in order until the page is full, the rows end, or enough of them were looked at. */
async function look<Item>({
  page,
  most,
  read,
  idOf,
  isWanted,
}: Look<Item>): Promise<PartialList<Item>> {
  const items: Item[] = [];
  let lookedTo = page.after;
  for (let looked = 0; looked < most; ) {
    // Most pages find what they need in the first read. SQLite walks through a large input to reach the columns behind
    // it, so rows that a page does not show are not looked at without need.
    const limit = Math.min(looked === 0 ? page.limit : laterRead, most - looked);
    const rows = await read({ ...page, after: lookedTo, limit });
    for (const row of rows) {
      lookedTo = idOf(row);
      if (!isWanted(row)) continue;
      items.push(row);
      if (items.length === page.limit) return { items, isCut: true, lookedTo };
    }
    looked += rows.length;
    if (rows.length < limit) return { items, isCut: false, lookedTo };
  }
  return { items, isCut: true, lookedTo };
}

/** Merges walks. The list is complete only up to the place that every cut walk has reached. */
function merged<Item>(
  walks: readonly PartialList<Item>[],
  { order, limit }: PageRequest,
  idOf: (item: Item) => string,
): PartialList<Item> {
  const [only] = walks;
  if (only !== undefined && walks.length === 1) return only;
  const isBefore = (a: string, b: string) => (order === 'asc' ? a < b : a > b);
  const reached = walks.flatMap(({ isCut, lookedTo }) =>
    isCut && lookedTo !== undefined ? [lookedTo] : [],
  );
  const end = reached.toSorted((a, b) => (isBefore(a, b) ? -1 : 1))[0];
  const items = walks
    .flatMap((walk) => walk.items)
    .filter((item) => end === undefined || !isBefore(end, idOf(item)))
    .toSorted((a, b) => (isBefore(idOf(a), idOf(b)) ? -1 : 1));
  const kept = items.slice(0, limit);
  const last = kept.at(-1);
  const isFull = kept.length === limit && last !== undefined;
  return { items: kept, isCut: isFull || end !== undefined, lookedTo: isFull ? idOf(last) : end };
}

export async function findRun(
  { store }: Pick<Services, 'store'>,
  scope: TenantScope,
  id: RunId,
): Promise<Run> {
  return (await store.read.runs.findById(scope, id)) ?? refuse('not_found');
}

export interface InteractionListFilter {
  readonly status: InteractionFilter;
  readonly kind?: InteractionKind | undefined;
  readonly agentName?: string | undefined;
  readonly labels?: readonly Label[] | undefined;
  /** Only pending ones that this caller may allow or answer. */
  readonly allowableBy?: AllowingReader | undefined;
}

/** Lists interactions of the whole tenant that match a filter. */
export async function listTenantInteractions(
  { store, clock }: Pick<Services, 'store' | 'clock'>,
  scope: TenantScope,
  { filter, page }: { readonly filter: InteractionListFilter; readonly page: PageRequest },
): Promise<PartialList<InteractionSummary>> {
  const now = clock.now();
  const { status, kind, agentName, labels = [], allowableBy } = filter;
  const which = status === 'pending' ? 'pending' : 'all';
  const looked = await look({
    page,
    most: lookedAtMax,
    read: async (range) => {
      const rows = await store.read.tenantLists.interactions(scope, which, range);
      return rows.map((row) => ({ ...row, status: statusAt(row, now) }));
    },
    idOf: ({ key }) => key,
    isWanted: (row) =>
      (status === 'all' || row.status === status) &&
      (kind === undefined || row.kind === kind) &&
      (agentName === undefined || row.run.agentName === agentName) &&
      hasLabels(row.run.labels, labels) &&
      (allowableBy === undefined || isAllowable(row, allowableBy)),
  });
  return withTopics(store.read.tenantLists, scope, { looked, order: page.order });
}

/**
 * A question waits for each caller that may answer (D-821); of one about a call in doubt, only one answer is
 * restricted.
 */
function isAllowable(row: ListedInteraction, reader: AllowingReader): boolean {
  if (row.status !== 'pending' || !reader.mayAnswer) return false;
  return row.kind === 'question' || allowingAsAsked(row, reader, row.run.createdBy).canAllow;
}

/** The agent of the run that called the run of an interaction; undefined where none has. */
interface WithCaller {
  readonly callerName: string | undefined;
}

export type InteractionSummary = ListedInteraction &
  WithCaller & { readonly topic: InteractionTopic };

/** Adds what the interactions ask. Ends the page where that becomes too large. */
async function withTopics(
  lists: TenantListRepository,
  scope: TenantScope,
  { looked, order }: { looked: PartialList<ListedInteraction>; order: PageRequest['order'] },
): Promise<PartialList<InteractionSummary>> {
  const keys = looked.items.map(({ key }) => key);
  const [{ items: topics, isCut }, nameOf] = await Promise.all([
    lists.topics(scope, keys, order),
    callerNames(lists, scope, looked.items),
  ]);
  const byKey = new Map(topics.map((topic) => [topic.key, topic]));
  const items = looked.items.flatMap((item) => {
    const topic = byKey.get(item.key);
    return topic === undefined ? [] : [{ ...item, topic, callerName: nameOf(item) }];
  });
  return isCut ? { items, isCut, lookedTo: topics.at(-1)?.key } : { ...looked, items };
}

async function callerNames(
  lists: TenantListRepository,
  scope: TenantScope,
  items: readonly Pick<ListedInteraction, 'run'>[],
): Promise<(item: Pick<ListedInteraction, 'run'>) => string | undefined> {
  const callerOf = ({ run }: Pick<ListedInteraction, 'run'>) => callersOf(run).at(-1);
  const callers = items.flatMap((item) => callerOf(item) ?? []);
  const names = await lists.agentsOf(scope, [...new Set(callers)]);
  return (item) => {
    const caller = callerOf(item);
    return caller && names.get(caller);
  };
}

/** With what holds now for a caller that wants to allow it (D-515). */
export async function findInteraction(
  services: Pick<Services, 'store' | 'clock' | 'agents' | 'knownRules'>,
  scope: TenantScope,
  { key, reader }: { readonly key: InteractionKey; readonly reader: AllowingReader },
): Promise<InteractionInTenant & WithCaller & { readonly allowing: ShownAllowing | undefined }> {
  const { read } = services.store;
  const row = (await read.tenantLists.interaction(scope, key)) ?? refuse('not_found');
  const found = asOf(row, services.clock.now());
  const { interaction } = found;
  const run = { ...scope, ...found.run };
  const [allowing, nameOf] = await Promise.all([
    allowingNow(services, read, { interaction, run, reader }),
    callerNames(read.tenantLists, scope, [found]),
  ]);
  return { ...found, callerName: nameOf(found), allowing };
}

function asOf(row: InteractionInTenant, now: number): InteractionInTenant {
  return { ...row, interaction: interactionAt(row.interaction, now) };
}

export async function getOverview(
  { store, clock }: Pick<Services, 'store' | 'clock'>,
  scope: TenantScope,
): Promise<TenantOverview & { readonly asOf: number }> {
  const now = clock.now();
  const bounds = { most: limits.overviewCountMax, now };
  return { ...(await store.read.tenantLists.overview(scope, bounds)), asOf: now };
}
