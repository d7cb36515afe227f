import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { summaryTitle } from '../../data/ask.ts';
import { number, plural } from '../../data/formats.ts';
import { inBackground } from '../../data/in-background.ts';
import { wasTooLate } from '../../data/problems.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog, useAction } from '../../parts/dialog.tsx';
import { TextField } from '../../parts/field.tsx';
import { SelectedList } from '../../parts/list/selection.tsx';
import { ProblemNote } from '../../parts/problem.tsx';
import type { InteractionSummary } from '../../session/api.ts';
import type { TenantScope } from '../../session/tenant-clients.ts';
import { useTenant } from '../../session/use.ts';

/** The outcome that the server recorded for one of them. */
type Result =
  | { readonly row: InteractionSummary; readonly kind: 'recorded' | 'late' }
  | { readonly row: InteractionSummary; readonly kind: 'failed'; readonly error: unknown };

/**
 * Denies what was selected, and declines the questions among it. Only the safe answer takes several: allowing needs the
 * whole input of each before the eyes of the person.
 */
export function DenySeveral(props: {
  readonly rows: readonly InteractionSummary[];
  readonly onClose: () => void;
  /** Called with the keys that no longer wait. */
  readonly onSettled: (keys: readonly string[]) => void;
}): JSX.Element {
  const { rows, onClose } = props;
  const tenant = useTenant();
  const [message, setMessage] = useState('');
  const [results, setResults] = useState<readonly Result[] | undefined>(undefined);
  const deny = useAction(async () => {
    const given: Result[] = [];
    for (const row of rows) given.push(await denyOne(tenant, row, message.trim()));
    setResults(given);
    props.onSettled(
      given.filter(({ kind }) => kind !== 'failed').map(({ row }) => row.interaction_key),
    );
  });
  const action = nameOf(rows);
  return (
    <Dialog title={results === undefined ? `${action}?` : 'Done'} onClose={onClose}>
      {results === undefined ? (
        <form
          class="stack"
          onSubmit={(event) => {
            event.preventDefault();
            inBackground(deny.run());
          }}
        >
          <Selected rows={rows} />
          <TextField
            label="Message to the agents (optional)"
            value={message}
            onInput={setMessage}
            max={2000}
            autofocus
          />
          <div class="buttons end">
            <Button onClick={onClose}>Cancel</Button>
            <Button kind="danger" type="submit" disabled={deny.isBusy}>
              {action}
            </Button>
          </div>
        </form>
      ) : (
        <Results results={results} onClose={onClose} />
      )}
    </Dialog>
  );
}

function Selected({ rows }: { readonly rows: readonly InteractionSummary[] }): JSX.Element {
  return (
    <SelectedList>
      {rows.map((row) => (
        <li key={row.interaction_key}>
          <span class={row.kind === 'permission' ? 'mono' : ''}>{summaryTitle(row)}</span>{' '}
          <span class="muted">{`${row.agent_name} · ${row.preview}`}</span>
        </li>
      ))}
    </SelectedList>
  );
}

function Results(props: {
  readonly results: readonly Result[];
  readonly onClose: () => void;
}): JSX.Element {
  const count = (kind: Result['kind']) => props.results.filter((one) => one.kind === kind).length;
  const failed = props.results.find((one) => one.kind === 'failed');
  return (
    <div class="stack">
      <div class="stack tight" role="status">
        <p>{`${plural(count('recorded'), 'answer')} recorded.`}</p>
        {count('late') > 0 && (
          <p>{`${number(count('late'))} already answered or no longer waiting.`}</p>
        )}
        {failed !== undefined && (
          <p class="failed">{`${number(count('failed'))} could not be answered and stay selected.`}</p>
        )}
      </div>
      {failed?.kind === 'failed' && <ProblemNote error={failed.error} />}
      <div class="buttons end">
        <Button kind="primary" onClick={props.onClose} autofocus>
          Close
        </Button>
      </div>
    </div>
  );
}

/** `Deny 3`, or `Deny or decline 3` when questions are among them. */
export function nameOf(rows: readonly InteractionSummary[]): string {
  const verbs = [
    ...(rows.some(({ kind }) => kind === 'permission') ? ['Deny'] : []),
    ...(rows.some(({ kind }) => kind === 'question') ? ['decline'] : []),
  ].join(' or ');
  return `${verbs.charAt(0).toUpperCase()}${verbs.slice(1)} ${rows.length}`;
}

async function denyOne(
  { client }: TenantScope,
  row: InteractionSummary,
  message: string,
): Promise<Result> {
  const said = message === '' ? {} : { message };
  try {
    await client.sessions
      .at(row.session_id)
      .interactions.answer(
        row.interaction_key,
        row.kind === 'permission' ? { decision: 'deny', ...said } : { declined: true, ...said },
      );
    return { row, kind: 'recorded' };
  } catch (error) {
    return wasTooLate(error) ? { row, kind: 'late' } : { row, kind: 'failed', error };
  }
}
