import type { UsageRecord } from '@convoke/sdk';
import type { ComponentChildren, JSX } from 'preact';
import { number, short } from '../data/formats.ts';
import { isLabelKey } from '../data/labels.ts';
import { daysOf, money, sumByGroup, sumOf } from '../data/usage.ts';
import { Bars } from '../parts/bars.tsx';
import { FilterText } from '../parts/list/filter-field.tsx';
import { Table } from '../parts/list/table.tsx';
import { now } from '../page/clock.ts';
import { Select } from '../parts/field.tsx';
import { Card, Heading, Await } from '../parts/page.tsx';
import { Empty } from '../parts/states.tsx';
import { Segments } from '../parts/tabs.tsx';
import { readUsage } from '../session/api.ts';
import { useResource, useTenant, useTitle } from '../session/use.ts';
import { addressWith, place, setQuery } from '../page/router.ts';

const groups = [
  { value: 'agent', label: 'By agent' },
  { value: 'model', label: 'By model' },
  { value: 'client', label: 'By client' },
  { value: 'label', label: 'By label' },
] as const;

/** Runs, tokens and cost of the tenant, by day and by agent, model, client or label. */
export function UsageScreen(): JSX.Element {
  useTitle('Usage');
  const { query } = place.value;
  const days = ['7', '30', '90'].includes(query.get('days') ?? '') ? Number(query.get('days')) : 30;
  const group = groups.find(({ value }) => value === query.get('by'))?.value ?? 'agent';
  const key = query.get('key') ?? '';
  return (
    <>
      <Heading title="Usage" />
      <div class="filters">
        <Segments
          label="Time"
          tabs={[7, 30, 90].map((count) => ({
            name: `${count} days`,
            href: addressWith({ days: String(count) }),
            isCurrent: count === days,
          }))}
        />
        <Select name="Group" value={group} choices={groups} onChange={(by) => setQuery({ by })} />
        {group === 'label' && (
          <FilterText
            field="key"
            value={key}
            name="Label key"
            max={64}
            isWrong={key !== '' && !isLabelKey(key)}
          />
        )}
      </div>
      <PerDay key={days} days={days}>
        {group !== 'label' ? (
          <PerGroup key={`${days}${group}`} days={days} group={group} title={titles[group]} />
        ) : isLabelKey(key) ? (
          <PerGroup key={`${days}:${key}`} days={days} group={`label:${key}`} title={key} />
        ) : (
          <Card title="By label">
            <Empty title="Enter a label key, such as “customer”." />
          </Card>
        )}
      </PerDay>
    </>
  );
}

/** The sums and charts, then the groups; nothing before there is usage. */
function PerDay(props: {
  readonly days: number;
  readonly children: ComponentChildren;
}): JSX.Element {
  const { days } = props;
  const tenant = useTenant();
  const usage = useResource(`${tenant.tenantId}/usage/${days}`, () =>
    readUsage(tenant, { days, bucket: 'day' }),
  );
  return (
    <Await resource={usage}>
      {(rows) => {
        const all = daysOf(rows, days, now.peek());
        const tokens = sumOf(all, (day) => day.tokens);
        if (tokens + sumOf(all, (day) => day.runs) === 0) {
          return (
            <div class="card">
              <Empty title="No usage in this period." />
            </div>
          );
        }
        const currency = rows.find((row) => row.currency !== undefined)?.currency;
        return (
          <>
            <div class="counters">
              <Counter value={number(sumOf(all, (day) => day.runs))} name="runs" />
              <Counter value={number(sumOf(all, (day) => day.failed))} name="failed" />
              <Counter value={short(tokens)} name="tokens" />
              {currency !== undefined && (
                <Counter
                  value={money(
                    sumOf(all, (day) => day.cost),
                    currency,
                  )}
                  name="cost"
                />
              )}
            </div>
            <div class={tokens > 0 ? 'columns' : ''}>
              <Chart title="Runs per day" days={all} of="runs" />
              {tokens > 0 && <Chart title="Tokens per day" days={all} of="tokens" />}
            </div>
            {props.children}
          </>
        );
      }}
    </Await>
  );
}

function Counter(props: { readonly value: string; readonly name: string }): JSX.Element {
  return (
    <div>
      <span class="value">{props.value}</span>
      <span class="muted">{props.name}</span>
    </div>
  );
}

function Chart(props: {
  readonly title: string;
  readonly days: ReturnType<typeof daysOf>;
  readonly of: 'runs' | 'tokens';
}): JSX.Element {
  const { title, days, of } = props;
  const bars = days.map((day) => ({
    label: day.day,
    value: day[of],
    bad: of === 'runs' ? day.failed : 0,
  }));
  return (
    <Card title={title} aside={<span class="muted small">UTC</span>}>
      <div class="card-body">
        <Bars title={title} bars={bars} />
      </div>
    </Card>
  );
}

/** Names of the first column. */
const titles = { agent: 'Agent', model: 'Model', client: 'Client' } as const;

function PerGroup(props: {
  readonly days: number;
  readonly group: keyof typeof titles | `label:${string}`;
  readonly title: string;
}): JSX.Element {
  const { days, group, title } = props;
  const tenant = useTenant();
  const usage = useResource(`${tenant.tenantId}/usage/${days}/${group}`, () =>
    readUsage(tenant, { days, group_by: group }),
  );
  return (
    <Card title={`By ${title.toLowerCase()}`}>
      <Await resource={usage}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title="No usage in this period." />
          ) : (
            <Table<UsageRecord>
              label="Usage by group"
              rows={sumByGroup(rows).toSorted((a, b) => tokensOf(b) - tokensOf(a))}
              idOf={(row) => row.group ?? ''}
              columns={[
                {
                  title,
                  class: 'clip wide-cell',
                  cell: (row) => (row.group === '' ? 'People' : (row.group ?? '')),
                },
                { title: 'Runs', class: 'number', cell: (row) => amount(row.runs) },
                {
                  title: 'Failed',
                  optional: true,
                  class: 'number',
                  cell: (row) => amount(row.failed),
                },
                {
                  title: 'Tokens in',
                  optional: true,
                  class: 'number',
                  cell: (row) => number(row.input_tokens),
                },
                {
                  title: 'Tokens out',
                  optional: true,
                  class: 'number',
                  cell: (row) => number(row.output_tokens),
                },
                {
                  title: 'Cost',
                  class: 'number',
                  cell: (row) =>
                    row.cost === undefined ? '–' : money(row.cost, row.currency ?? ''),
                },
              ]}
            />
          )
        }
      </Await>
    </Card>
  );
}

function tokensOf(row: UsageRecord): number {
  return row.input_tokens + row.output_tokens;
}

function amount(value: number | undefined): string {
  return value === undefined ? '' : number(value);
}
