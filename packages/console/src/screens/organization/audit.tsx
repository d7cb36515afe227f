import { type AuditRecord, auditActionName } from '@convoke/sdk';
import type { JSX } from 'preact';
import type { RouteParams } from '../../data/routes.ts';
import { idOfName, shownSentence, withoutTokens } from '../../data/audit-sentences.ts';
import { number, plural } from '../../data/formats.ts';
import { Select } from '../../parts/field.tsx';
import { JsonTree } from '../../parts/json-tree.tsx';
import { FilterMoment, FilterText } from '../../parts/list/filter-field.tsx';
import { SavedViews } from '../../parts/list/saved-views.tsx';
import { Heading, Await } from '../../parts/page.tsx';
import { ProblemNote } from '../../parts/problem.tsx';
import { Empty, Skeleton } from '../../parts/states.tsx';
import { Button } from '../../parts/button.tsx';
import { CopyButton } from '../../parts/copy.tsx';
import { Time } from '../../parts/time.tsx';
import { listMembers } from '../../session/api.ts';
import { nameOfPerson, session } from '../../session/session.ts';
import { organizationClient } from '../../session/tenant-clients.ts';
import { usePages, useResource, useTitle } from '../../session/use.ts';
import { addressWith, place, setQuery } from '../../page/router.ts';

/** The filters of the address, by their names there. */
const filterNames = ['action', 'outcome', 'actor', 'object', 'from', 'to'] as const;
type Filters = Readonly<Record<(typeof filterNames)[number], string>>;

/** The longest id that the operation takes. */
const maxId = 200;

/** Who did what in the organization, and whether the chain of rows is whole. */
export function AuditScreen({ org = '' }: RouteParams): JSX.Element {
  useTitle('Audit');
  const { query } = place.value;
  const filters = Object.fromEntries(
    filterNames.map((name) => [name, query.get(name) ?? '']),
  ) as Filters;
  const hasTokens = query.get('tokens') === 'shown' || filters.action !== '';
  const list = usePages(
    [org, hasTokens, ...Object.values(filters)],
    (cursor) => {
      const read = (next: string | undefined) => readAudit(org, filters, next);
      return hasTokens ? read(cursor) : withoutTokens(read, cursor);
    },
    (row) => String(row.seq),
  );
  const rows = list.rows.value;
  const names = useNames(org, rows ?? []);
  const hasMore = list.hasMore.value;
  const isFiltered = Object.values(filters).some((value) => value !== '');
  return (
    <>
      <Heading title="Audit">
        <ChainStatus org={org} />
      </Heading>
      <FilterBar names={names} filters={filters} rows={rows ?? []} />
      <div class="card timeline">
        {list.error.value !== undefined && (
          <ProblemNote error={list.error.value} retry={() => list.refresh()} />
        )}
        {rows === undefined && list.error.value === undefined && <Skeleton />}
        {rows?.length === 0 && <NoRows isFiltered={isFiltered} hasMore={hasMore} />}
        {rows?.map((row) => (
          <Row key={row.seq} row={row} nameOf={(id) => names.get(id)} />
        ))}
        {hasMore && (
          <div class="list-more">
            <Button kind="quiet" size="small" onClick={() => list.more()}>
              More
            </Button>
          </div>
        )}
      </div>
    </>
  );
}

function FilterBar(props: {
  readonly names: ReadonlyMap<string, string>;
  readonly filters: Filters;
  readonly rows: readonly AuditRecord[];
}): JSX.Element {
  const { names, filters, rows } = props;
  const actions = new Set(rows.map((row) => row.action).toSorted((a, b) => (a < b ? -1 : 1)));
  if (filters.action !== '') actions.add(filters.action);
  return (
    <div class="filters">
      <Select
        name="Action"
        value={filters.action}
        choices={[
          { value: '', label: 'All actions' },
          ...[...actions].map((value) => ({ value, label: auditActionName(value) })),
        ]}
        onChange={(action) => setQuery({ action })}
      />
      <Select
        name="Outcome"
        value={filters.outcome}
        choices={[
          { value: '', label: 'All outcomes' },
          { value: 'done', label: 'Done' },
          { value: 'denied', label: 'Denied' },
        ]}
        onChange={(outcome) => setQuery({ outcome })}
      />
      <WhoAndWhat names={names} filters={filters} />
      <div class="period">
        <FilterMoment field="from" value={filters.from} name="From" />
        <FilterMoment field="to" value={filters.to} name="To" />
      </div>
      <label class="check">
        <input
          type="checkbox"
          checked={place.value.query.get('tokens') === 'shown'}
          onChange={(event) =>
            setQuery({ tokens: event.currentTarget.checked ? 'shown' : undefined })
          }
        />
        Show token events
      </label>
      <SavedViews screen="audit" />
    </div>
  );
}

/** Who acted, by name, and on what. */
function WhoAndWhat(props: {
  readonly names: ReadonlyMap<string, string>;
  readonly filters: Filters;
}): JSX.Element {
  const { names, filters } = props;
  const actors = new Map([...names].filter(([id]) => !id.startsWith('ten_')));
  if (filters.actor !== '' && !actors.has(filters.actor)) actors.set(filters.actor, filters.actor);
  return (
    <>
      <Select
        name="Actor"
        value={filters.actor}
        choices={[
          { value: '', label: 'All people and clients' },
          ...[...actors].map(([value, name]) => ({ value, label: name })),
        ]}
        onChange={(actor) => setQuery({ actor })}
      />
      <FilterText
        field="object"
        value={names.get(filters.object) ?? filters.object}
        toFilter={(typed) => idOfName(names, typed)}
        name="Object name or ID"
        max={maxId}
        list="audit-objects"
        hasKey
      />
      <datalist id="audit-objects">
        {[...names].map(([id, name]) => (
          <option key={id} value={id} label={name} />
        ))}
      </datalist>
    </>
  );
}

/** What people, clients and tenants of the organization are called, by their ids. */
function useNames(org: string, rows: readonly AuditRecord[]): ReadonlyMap<string, string> {
  const api = organizationClient(org);
  const members = useResource(`${org}/audit-members`, () => listMembers(org, undefined));
  const clients = useResource(`${org}/audit-clients`, () => api.clients.list({ limit: 50 }).page());
  return new Map([
    ...rows.flatMap(({ actor: { id, name } }) => (id === '' ? [] : [[id, name ?? id] as const])),
    ...(members.data.value?.items ?? []).map(
      (person) => [person.user_id, nameOfPerson(person)] as const,
    ),
    ...(clients.data.value?.items ?? []).map(({ id, name }) => [id, name] as const),
    ...tenantNames(org),
  ]);
}

/** A page looks at a bounded number of rows, so with filters it may be empty although there are more. */
function NoRows(props: { readonly isFiltered: boolean; readonly hasMore: boolean }): JSX.Element {
  if (!props.isFiltered && !props.hasMore) return <Empty title="No entries yet." />;
  if (props.hasMore) return <Empty title="No matches yet. Choose More to search older entries." />;
  return (
    <Empty title="No matches.">
      <a href={location.pathname}>Clear filters</a>
    </Empty>
  );
}

function readAudit(org: string, filters: Filters, cursor: string | undefined) {
  const { action, outcome, actor, object, from, to } = filters;
  const given = (value: string) => (value === '' ? undefined : value);
  return organizationClient(org)
    .audit.list({
      outcome: outcome === 'done' || outcome === 'denied' ? outcome : undefined,
      action: given(action),
      actor_id: given(actor),
      object: given(object),
      from: given(from),
      to: given(to),
      limit: 50,
      cursor,
    })
    .page();
}

/** The tenants that the person reaches. */
function tenantNames(org: string): (readonly [string, string])[] {
  const state = session.value;
  const reached = state.kind === 'in' ? state.workspaces : [];
  return reached
    .filter(({ organization_id: of }) => of === org)
    .map(({ tenant }) => [tenant.tenant_id, tenant.display_name] as const);
}

function Row(props: {
  readonly row: AuditRecord;
  readonly nameOf: (id: string) => string | undefined;
}): JSX.Element {
  const { row, nameOf } = props;
  const { actor, object } = row;
  return (
    <details>
      <summary>
        <span class="muted">
          <Time at={row.at} />
        </span>
        <span
          class={`clip audit-sentence ${row.outcome === 'done' ? '' : 'failed'}`}
          title={row.action}
        >
          {shownSentence(row, nameOf)}
        </span>
      </summary>
      <div class="open-event">
        <p class="facts-line">
          {actor.id !== '' && <a href={addressWith({ actor: actor.id })}>Filter by actor</a>}
          {object !== '' && <a href={addressWith({ object })}>Filter by object</a>}
        </p>
        <JsonTree value={{ ...row }} name={`audit-${row.seq}`} />
      </div>
    </details>
  );
}

function ChainStatus({ org }: { readonly org: string }): JSX.Element {
  const status = useResource(`${org}/audit-status`, () => organizationClient(org).audit.status());
  return (
    <Await resource={status}>
      {({ rows, last_hash: hash, verified_to_seq: to, verified_at: at, problem }) => (
        <p class="summary-line">
          {problem === undefined ? (
            <span class="done">✓ Log integrity verified</span>
          ) : (
            <strong class="failed">{`✕ Entry ${problem.seq}: ${problem.reason}`}</strong>
          )}
          <span>{`${plural(rows, 'entry', 'entries')}`}</span>
          {at !== undefined && (
            <span>
              {`verified to entry ${number(to)} of ${number(rows)}, `}
              <Time at={at} />
            </span>
          )}
          {hash !== '' && (
            <span class="nowrap">
              Last hash <code>{`${hash.slice(0, 12)}…`}</code>
              <CopyButton text={hash} label="Copy the last hash" />
            </span>
          )}
        </p>
      )}
    </Await>
  );
}
