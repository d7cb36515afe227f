import type { RunRecord } from '@convoke/sdk';
import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { plural } from '../../data/formats.ts';
import { shownState } from '../../data/run-rows.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog, useAction } from '../../parts/dialog.tsx';
import { SelectedList } from '../../parts/list/selection.tsx';
import { ProblemNote } from '../../parts/problem.tsx';
import { Status } from '../../parts/status.tsx';
import { announce } from '../../parts/toast.tsx';
import type { RunSummary } from '../../session/api.ts';
import { useTenant } from '../../session/use.ts';

interface Refusal {
  readonly run: RunSummary;
  readonly error: unknown;
}

/**
 * Asks before runs are cancelled. It closes when the server has recorded all; else it says which were refused, and why.
 */
export function CancelRuns(props: {
  readonly runs: readonly RunSummary[];
  readonly onClose: () => void;
  /** Called with the record that the server answered. */
  readonly onRecorded: (record: RunRecord) => void;
  /** Called when the server has answered for every run. */
  readonly onDone: () => void;
}): JSX.Element {
  const { runs, onClose } = props;
  const { client } = useTenant();
  const [refusals, setRefusals] = useState<readonly Refusal[]>([]);
  /** Closed while the server still answers: a short message says afterwards how far it got. */
  const isClosed = useRef(false);
  const cancel = useAction(async () => {
    const refused: Refusal[] = [];
    for (const run of runs) {
      const handle = client.sessions.at(run.session_id).runs.at(run.id);
      await handle
        .cancel()
        .then(props.onRecorded, (error: unknown) => refused.push({ run, error }));
    }
    props.onDone();
    setRefusals(refused);
    if (refused.length > 0 && !isClosed.current) return;
    announce(requested(runs.length - refused.length, runs.length));
    onClose();
  });
  const close = () => {
    isClosed.current = true;
    onClose();
  };
  if (refusals.length > 0) return <Refused {...{ refusals, onClose }} count={runs.length} />;
  const isOne = runs.length === 1;
  return (
    <Dialog title={isOne ? 'Cancel this run?' : `Cancel ${runs.length} runs?`} onClose={close}>
      <SelectedList>
        {runs.map((run) => (
          <li key={run.id}>
            <Status of={shownState(run)} /> <RunName run={run} />
          </li>
        ))}
      </SelectedList>
      <p>
        {isOne
          ? 'The agent stops. Its output so far is kept.'
          : 'Their agents stop. Their output so far is kept.'}
      </p>
      <div class="buttons end">
        <Button onClick={close} autofocus>
          Cancel
        </Button>
        <Button kind="danger" onClick={cancel.run} disabled={cancel.isBusy}>
          {isOne ? 'Cancel the run' : `Cancel ${runs.length} runs`}
        </Button>
      </div>
    </Dialog>
  );
}

function Refused(props: {
  readonly refusals: readonly Refusal[];
  readonly count: number;
  readonly onClose: () => void;
}): JSX.Element {
  const { refusals, count } = props;
  const accepted = count - refusals.length;
  return (
    <Dialog
      title={count === 1 ? 'The run was not cancelled' : 'Not all runs were cancelled'}
      onClose={props.onClose}
    >
      {accepted > 0 && <p role="status">{requested(accepted, count)}</p>}
      {refusals.map(({ run, error }) => (
        <div class="stack tight" key={run.id}>
          <p class="breaks">
            <RunName run={run} />
          </p>
          <ProblemNote error={error} />
        </div>
      ))}
      <div class="buttons end">
        <Button kind="primary" onClick={props.onClose} autofocus>
          Close
        </Button>
      </div>
    </Dialog>
  );
}

function requested(accepted: number, count: number): string {
  const runs = plural(count, 'run');
  return `Cancel requested for ${accepted === count ? runs : `${accepted} of ${runs}`}.`;
}

function RunName({ run }: { readonly run: RunSummary }): JSX.Element {
  return (
    <>
      {run.preview || '(no prompt)'} <span class="muted">{run.agent_name}</span>
    </>
  );
}
