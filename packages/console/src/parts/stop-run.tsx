import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { RunRecord } from '@convoke/sdk';
import { inBackground } from '../data/in-background.ts';
import { canCancel, hasEnded } from '../data/run-rows.ts';
import type { RunStore } from '../data/run-store.ts';
import { openRequests } from '../data/transcript.ts';
import { isInText, useShortcuts } from '../page/shortcuts.ts';
import { Button } from './button.tsx';
import { useAction } from './dialog.tsx';
import { ProblemNote } from './problem.tsx';

/** The composer's button that stops a run, and the question that it asks. */
export interface StopRun {
  readonly button: JSX.Element | undefined;
  readonly question: JSX.Element | undefined;
}

/**
 * Stops the newest run of a conversation, and asks before it does. The question is shown for as long as the run can be
 * kept. Escape leaves a field first, and stops only an agent that is answering: a run that waits for a person would
 * lose its question to a key (D-720).
 */
export function useStopRun(store: RunStore | undefined): StopRun {
  const run = store?.record.value;
  const [asked, setAsked] = useState<string | undefined>(undefined);
  const stop = useAction(async () => {
    setAsked(undefined);
    await store?.cancel();
  });
  // The record is read after the events, so these may show a request while it still says that the agent answers.
  const isAsking = store !== undefined && openRequests(store.view.value).length > 0;
  const isBusy = run !== undefined && isAnswering(run) && !isAsking;
  const isAsked = run !== undefined && asked === run.id && canCancel(run);
  // A run that begins to wait takes the question back: it was about an agent that answers.
  useEffect(() => setAsked(undefined), [isBusy]);
  const ask = () => setAsked(run?.id);
  const keep = () => setAsked(undefined);
  const escape = () => {
    const { activeElement: active } = document;
    if (isInText(active)) active.blur();
    else if (run === undefined || !isBusy) keep();
    else if (isAsked) inBackground(stop.run());
    else if (canCancel(run)) ask();
  };
  useShortcuts(run === undefined || hasEnded(run) ? {} : { Escape: escape });
  const error = stop.error === undefined ? undefined : <ProblemNote error={stop.error} />;
  return {
    button:
      run === undefined || !canCancel(run) || isAsked ? undefined : (
        <Button size="small" onClick={ask}>
          Stop
        </Button>
      ),
    question: isAsked ? <Question isAnswering={isBusy} onStop={stop.run} onKeep={keep} /> : error,
  };
}

function isAnswering({ status }: Pick<RunRecord, 'status'>): boolean {
  return status === 'running' || status === 'queued';
}

function Question(props: {
  readonly isAnswering: boolean;
  readonly onStop: () => unknown;
  readonly onKeep: () => void;
}): JSX.Element {
  return (
    <div class="composer-notice" role="alert">
      <span class="grow">
        <strong>Stop this run?</strong> Its output so far is kept.
      </span>
      <Button size="small" onClick={props.onKeep}>
        Keep running
      </Button>
      <Button size="small" kind="danger" onClick={props.onStop}>
        Stop the run {props.isAnswering && <kbd>Esc</kbd>}
      </Button>
    </div>
  );
}
