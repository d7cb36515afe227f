import type { JSX } from 'preact';
import { number, short } from '../data/formats.ts';
import { addressOf } from '../data/routes.ts';
import { daysOf, sumOf } from '../data/usage.ts';
import { Bars } from '../parts/bars.tsx';
import { now } from '../page/clock.ts';
import { Card, Await } from '../parts/page.tsx';
import { readUsage } from '../session/api.ts';
import { useResource, useRight, useTenant } from '../session/use.ts';

const days = 14;

/** Runs and tokens of the last two weeks, on the first page. */
export function UsageStrip(): JSX.Element | null {
  const tenant = useTenant();
  const mayRead = useRight('usage:read');
  if (!mayRead) return null;
  return (
    <Card
      title="Last 14 days"
      aside={<a href={addressOf('usage', { tenant: tenant.tenantId })}>View usage</a>}
    >
      <div class="card-body">
        <Strip />
      </div>
    </Card>
  );
}

function Strip(): JSX.Element {
  const tenant = useTenant();
  const usage = useResource(`${tenant.tenantId}/usage-strip`, () =>
    readUsage(tenant, { days, bucket: 'day' }),
  );
  return (
    <Await resource={usage}>
      {(rows) => {
        const all = daysOf(rows, days, now.peek());
        const bars = (of: 'runs' | 'tokens') =>
          all.map((day) => ({
            label: day.day,
            value: day[of],
            bad: of === 'runs' ? day.failed : 0,
          }));
        const tokens = sumOf(all, (day) => day.tokens);
        return (
          <div class={tokens > 0 ? 'columns' : ''}>
            <figure class="stack tight">
              <figcaption class="summary-line">
                <span>Runs per day</span>
                <strong>{number(sumOf(all, (day) => day.runs))}</strong>
              </figcaption>
              <Bars title="Runs per day" bars={bars('runs')} />
            </figure>
            {tokens > 0 && (
              <figure class="stack tight">
                <figcaption class="summary-line">
                  <span>Tokens per day</span>
                  <strong>{short(tokens)}</strong>
                </figcaption>
                <Bars title="Tokens per day" bars={bars('tokens')} />
              </figure>
            )}
          </div>
        );
      }}
    </Await>
  );
}
