import type { AuditRecord } from '@convoke/sdk';
import type { JSX } from 'preact';
import type { RouteParams } from '../../data/routes.ts';
import { number, visible } from '../../data/formats.ts';
import { Select } from '../../parts/field.tsx';
import { JsonTree } from '../../parts/json-tree.tsx';
import { Heading, Shown } from '../../parts/page.tsx';
import { ProblemNote } from '../../parts/problem.tsx';
import { SavedViews } from '../../parts/saved-views.tsx';
import { Empty, Skeleton } from '../../parts/states.tsx';
import { Button } from '../../parts/button.tsx';
import { CopyButton } from '../../parts/copy.tsx';
import { Time } from '../../parts/time.tsx';
import { organizationClient } from '../../session/session.ts';
import { usePages, useResource, useTitle } from '../../session/use.ts';
import { place, setQuery } from '../../shell/router.ts';

/** Who did what in the organization, and whether the chain of rows is whole. */
export function AuditScreen({ org = '' }: RouteParams): JSX.Element {
  useTitle('Audit');
  const outcome = place.value.query.get('outcome') ?? '';
  const action = place.value.query.get('action') ?? '';
  const list = usePages(
    [org, outcome, action],
    (cursor) => readAudit(org, { outcome, action }, cursor),
    (row) => String(row.seq),
  );
  const rows = list.rows.value;
  const actions = [...new Set((rows ?? []).map((row) => row.action))].toSorted((a, b) =>
    a < b ? -1 : 1,
  );
  return (
    <>
      <Heading title="Audit">
        <ChainStatus org={org} />
      </Heading>
      <div class="filters">
        <Select
          name="Action"
          value={action}
          choices={[
            { value: '', label: 'All actions' },
            ...[...new Set([...actions, ...(action === '' ? [] : [action])])].map((value) => ({
              value,
              label: value,
            })),
          ]}
          onChange={(value) => setQuery({ action: value })}
        />
        <Select
          name="Outcome"
          value={outcome}
          choices={[
            { value: '', label: 'All outcomes' },
            { value: 'done', label: 'done' },
            { value: 'denied', label: 'denied' },
          ]}
          onChange={(value) => setQuery({ outcome: value })}
        />
        <SavedViews screen="audit" />
      </div>
      <div class="card timeline">
        {list.error.value !== undefined && (
          <ProblemNote error={list.error.value} retry={() => list.refresh()} />
        )}
        {rows === undefined && list.error.value === undefined && <Skeleton />}
        {rows?.length === 0 && <Empty title="No rows." />}
        {rows?.map((row) => (
          <Row key={row.seq} row={row} />
        ))}
        {list.hasMore.value && (
          <div class="more">
            <Button kind="quiet" size="small" onClick={() => list.more()}>
              More
            </Button>
          </div>
        )}
      </div>
    </>
  );
}

interface AuditShown {
  readonly outcome: string;
  readonly action: string;
}

function readAudit(org: string, { outcome, action }: AuditShown, cursor: string | undefined) {
  return organizationClient(org)
    .audit.list({
      outcome: outcome === 'done' || outcome === 'denied' ? outcome : undefined,
      action: action === '' ? undefined : action,
      limit: 50,
      cursor,
    })
    .page();
}

function Row({ row }: { readonly row: AuditRecord }): JSX.Element {
  return (
    <details>
      <summary>
        <span class="muted">
          <Time at={row.at} />
        </span>
        <code class={row.outcome === 'done' ? '' : 'failed'}>{visible(row.action)}</code>
        <span class="clip muted">
          {visible(`${row.actor.name ?? row.actor.id} → ${row.object}`)}
        </span>
      </summary>
      <div class="open-event">
        <JsonTree value={{ ...row }} name={`audit-${row.seq}`} />
      </div>
    </details>
  );
}

function ChainStatus({ org }: { readonly org: string }): JSX.Element {
  const status = useResource(`${org}/audit-status`, () => organizationClient(org).audit.status());
  return (
    <Shown of={status}>
      {({ rows, last_hash: hash, verified_to_seq: to, verified_at: at, problem }) => (
        <p class="summary-line">
          {problem === undefined ? (
            <span class="done">✓ the chain is whole</span>
          ) : (
            <strong class="failed">{`✕ row ${problem.seq}: ${problem.reason}`}</strong>
          )}
          <span>{`${number(rows)} rows`}</span>
          {at !== undefined && (
            <span>
              {`checked to row ${to} `}
              <Time at={at} />
            </span>
          )}
          {hash !== '' && (
            <span class="nowrap">
              last hash <code>{`${hash.slice(0, 12)}…`}</code>
              <CopyButton text={hash} label="Copy the last hash" />
            </span>
          )}
        </p>
      )}
    </Shown>
  );
}
