import type { InteractionRecord } from '@convoke/sdk';
import type { JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { inBackground } from '../../data/in-background.ts';
import { jsonSummary } from '../../data/json-text.ts';
import { Button } from '../../parts/button.tsx';
import { useAction } from '../../parts/dialog.tsx';
import { Card } from '../../parts/page.tsx';
import { ProblemNote } from '../../parts/problem.tsx';
import { Time } from '../../parts/time.tsx';
import { announce } from '../../parts/toast.tsx';
import { listRemembered } from '../../session/api.ts';
import { useRefreshOnNotice } from '../../session/live.ts';
import { personName } from '../../session/session.ts';
import { useResource, useRight, useTenant } from '../../session/use.ts';

/** The allows that the session remembers, each with the button that ends it. Most sessions have none, and no card. */
export function SessionMemory({ sessionId }: { readonly sessionId: string }): JSX.Element | null {
  const tenant = useTenant();
  const remembered = useResource(`${tenant.tenantId}/remembered/${sessionId}`, () =>
    listRemembered(tenant, sessionId),
  );
  useRefreshOnNotice(
    ({ type, session_id: id }) => type === 'interaction_answered' && id === sessionId,
    () => remembered.refresh(),
  );
  const all = remembered.data.value ?? [];
  if (all.length === 0 && remembered.error.value === undefined) return null;
  return (
    <Card title="Allowed in this session">
      {remembered.error.value !== undefined && (
        <ProblemNote error={remembered.error.value} retry={() => remembered.refresh()} />
      )}
      <div class="list">
        {all.map((record) => (
          <Remembered
            key={record.interaction_key}
            record={record}
            onForgotten={() => inBackground(remembered.refresh())}
          />
        ))}
      </div>
    </Card>
  );
}

/** With a row goes the focus that it had: the row beside it gets it, or the heading after the last one. */
function useRowBeside() {
  const row = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const { current: gone } = row;
    return () => {
      if (gone?.contains(document.activeElement) !== true) return;
      const beside = gone.nextElementSibling ?? gone.previousElementSibling;
      const next = beside?.querySelector<HTMLElement>(':scope > button');
      (next ?? document.querySelector<HTMLElement>('h1'))?.focus();
    };
  }, []);
  return row;
}

function Remembered(props: {
  readonly record: InteractionRecord;
  readonly onForgotten: () => void;
}): JSX.Element {
  const { record, onForgotten } = props;
  const { client } = useTenant();
  const mayAnswer = useRight('interactions:write');
  const forget = useAction(async () => {
    await client.sessions.at(record.session_id).interactions.forget(record.interaction_key);
    announce('Forgotten. The next such call is asked about.');
    onForgotten();
  });
  const { tool_name: tool = 'tool', answered_by: by, answered_at: at } = record;
  const isExact = record.remembered === 'exact';
  const input = isExact ? ` ${jsonSummary(record.updated_input ?? record.tool_input)}` : '';
  const row = useRowBeside();
  return (
    <div class="list-row" ref={row}>
      <span class="grow request-line">
        <span class="clip">
          <code>{tool}</code>
          {isExact && <span class="muted">{input}</span>}
        </span>
        <span class="muted small">
          {isExact ? 'this exact call' : `every ${tool}`}
          {by !== undefined && ` · by ${record.answered_by_name ?? personName(by)}`}
          {at !== undefined && (
            <>
              {' · '}
              <Time at={at} />
            </>
          )}
        </span>
        {forget.error !== undefined && <ProblemNote error={forget.error} />}
      </span>
      {/* Not disabled while busy, when a second press does nothing: a button that is disabled loses the focus. */}
      <Button
        size="small"
        onClick={forget.run}
        isAllowed={mayAnswer}
        ariaLabel={`Forget ${isExact ? '' : 'every '}${tool}${input}`}
      >
        Forget
      </Button>
    </div>
  );
}
