import type { RuleChange, RuleTrialSoFar, SetRules } from '@convoke/sdk';
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { number, plural } from '../../data/formats.ts';
import { addressOf } from '../../data/routes.ts';
import { type Column, Table } from '../../parts/list/table.tsx';
import { Card } from '../../parts/page.tsx';
import { Time } from '../../parts/time.tsx';
import { organizationClient } from '../../session/tenant-clients.ts';

interface Trial {
  readonly found: RuleTrialSoFar | undefined;
  readonly isLoading: boolean;
  readonly error: unknown;
}

const noTrial: Trial = { found: undefined, isLoading: false, error: undefined };

/** One trial at a time: of a draft that is no longer the one on the screen, nothing more is asked or shown. */
export function useRulesTrial(org: string) {
  const { rules } = organizationClient(org);
  const [trial, setTrial] = useState(noTrial);
  const running = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  const stop = () => {
    running.current?.abort();
    setTrial(noTrial);
  };
  const start = async (draft: SetRules['rules']) => {
    stop();
    const { signal } = (running.current = new AbortController());
    const show = (parts: Partial<Trial>) => {
      if (!signal.aborted) setTrial((shown) => ({ ...shown, ...parts }));
    };
    show({ isLoading: true });
    try {
      for await (const found of rules.tryAll({ rules: draft, signal })) show({ found });
    } catch (error) {
      show({ error });
    }
    show({ isLoading: false });
  };
  return { ...trial, start, stop };
}

/** What a draft would have decided about the calls of the last days: ids and names, no inputs. */
export function RulesTrial(props: {
  readonly trial: RuleTrialSoFar;
  readonly isLoading: boolean;
}): JSX.Element {
  const { calls, changed, rules, changes } = props.trial;
  const frame = useRef<HTMLDivElement>(null);
  // The draft above it fills the window.
  useEffect(() => frame.current?.scrollIntoView({ block: 'nearest' }), []);
  const idle = rules.filter(({ matched }) => matched === 0).map(({ name }) => name);
  return (
    <Card title="Past calls of seven days">
      <div class="card-body stack" ref={frame}>
        <p role="status" aria-busy={props.isLoading}>
          {`${plural(calls, 'call')}, of which ${number(changed)} would be decided differently.`}
        </p>
        {idle.length > 0 && <p class="waiting">{`No past call meets ${idle.join(', ')}.`}</p>}
        {changes.length > 0 && (
          <Table label="Changes" rows={changes} idOf={idOf} columns={columns} />
        )}
        {changed > changes.length && (
          <p class="muted small">{`and ${number(changed - changes.length)} older ones`}</p>
        )}
      </div>
    </Card>
  );
}

function idOf({ run_id: run, at, tool_name: tool }: RuleChange): string {
  return `${run} ${at} ${tool}`;
}

const columns: readonly Column<RuleChange>[] = [
  {
    title: 'Call',
    class: 'wide-cell',
    cell: ({ tenant_id: tenant, run_id: run, agent_name: agent, tool_name: tool, rule }) => (
      <>
        <a data-row class="breaks" href={addressOf('run', { tenant, run })}>
          <code>{tool}</code>
          <span class="muted">{` ${agent}`}</span>
        </a>
        <span class="small-only muted small breaks">
          rule <code>{rule}</code>
        </span>
      </>
    ),
  },
  { title: 'Decision', cell: ({ before, after }) => `${before} → ${after}` },
  { title: 'Rule', class: 'breaks', optional: 'small', cell: ({ rule }) => <code>{rule}</code> },
  { title: 'When', class: 'muted nowrap', optional: true, cell: ({ at }) => <Time at={at} /> },
];
