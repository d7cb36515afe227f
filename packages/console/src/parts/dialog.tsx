import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { inBackground } from '../data/in-background.ts';
import { Button } from './button.tsx';
import { TextField } from './field.tsx';
import { ProblemNote } from './problem.tsx';

/** A native modal dialog: the browser keeps the focus inside and gives it back. */
export function Dialog(props: {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  readonly class?: string | undefined;
  /** It stays until it is taken away: a browser closes a dialog that gets a second Escape. */
  readonly isFixed?: boolean | undefined;
}): JSX.Element {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={element}
      class={props.class}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        props.onClose();
      }}
      onClose={() => {
        if (props.isFixed === true && element.current?.isConnected === true) {
          element.current.showModal();
        }
      }}
      onClick={(event) => {
        if (event.target === element.current) props.onClose();
      }}
    >
      <div class="dialog-body">
        <h2 id={id}>{props.title}</h2>
        {props.children}
      </div>
    </dialog>
  );
}

export interface ConfirmProps {
  readonly title: string;
  readonly children: ComponentChildren;
  readonly action: string;
  /** A word that must be typed exactly to enable the action. */
  readonly typed?: string | undefined;
  readonly onConfirm: () => Promise<unknown>;
  readonly onClose: () => void;
}

/** Asks before something that cannot be taken back. Stays open with the error when it is refused. */
export function Confirm(props: ConfirmProps): JSX.Element {
  const [typed, setTyped] = useState('');
  const { isBusy, error, run } = useAction(async () => {
    await props.onConfirm();
    props.onClose();
  });
  const isReady = props.typed === undefined || typed === props.typed;
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      <div class="stack tight">{props.children}</div>
      {props.typed !== undefined && (
        <TextField
          label="Type the ID to confirm"
          hint={<code>{props.typed}</code>}
          value={typed}
          onInput={setTyped}
        />
      )}
      {error !== undefined && <ProblemNote error={error} />}
      <div class="buttons end">
        <Button onClick={props.onClose} autofocus>
          Cancel
        </Button>
        <Button kind="danger" onClick={run} disabled={isBusy || !isReady}>
          {props.action}
        </Button>
      </div>
    </Dialog>
  );
}

/**
 * A form in a dialog. It closes when the server has accepted it; after a refusal it keeps the typed text and shows the
 * error.
 */
export function FormDialog(props: {
  readonly title: string;
  readonly action: string;
  /** Whether all that is needed has been filled in. */
  readonly isReady: boolean;
  readonly kind?: 'primary' | 'danger' | undefined;
  readonly onSubmit: () => Promise<unknown>;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}): JSX.Element {
  const { isBusy, error, run } = useAction(async () => {
    await props.onSubmit();
    props.onClose();
  });
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (props.isReady) inBackground(run());
        }}
      >
        {props.children}
        {error !== undefined && <ProblemNote error={error} />}
        <div class="buttons end">
          <Button onClick={props.onClose}>Cancel</Button>
          <Button kind={props.kind ?? 'primary'} type="submit" disabled={isBusy || !props.isReady}>
            {props.action}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

export interface Action<A extends readonly unknown[]> {
  readonly isBusy: boolean;
  readonly error: unknown;
  readonly run: (...args: A) => Promise<void>;
  /** Takes the error away. */
  readonly clear: () => void;
}

/** One thing at a time: busy while it lasts, its error afterwards. */
export function useAction<A extends readonly unknown[]>(
  act: (...args: A) => Promise<unknown>,
): Action<A> {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(undefined);
  const isHere = useRef(true);
  useEffect(
    () => () => {
      isHere.current = false;
    },
    [],
  );
  const run = async (...args: A) => {
    if (isBusy) return;
    setBusy(true);
    setError(undefined);
    try {
      await act(...args);
    } catch (problem) {
      if (isHere.current) setError(problem);
    }
    if (isHere.current) setBusy(false);
  };
  return { isBusy, error, run, clear: () => setError(undefined) };
}
