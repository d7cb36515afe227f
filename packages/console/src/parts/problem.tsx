import type { JSX } from 'preact';
import { problemOf } from '../data/problems.ts';
import { Button } from './button.tsx';
import { CopyButton } from './copy.tsx';

/** An error where it happened: what, what to do, and what to quote. */
export function ProblemNote(props: {
  readonly error: unknown;
  readonly retry?: (() => unknown) | undefined;
}): JSX.Element {
  const { title, action, code, requestId } = problemOf(props.error);
  return (
    <div class="note failed-note" role="alert">
      <p>
        <strong>{title}</strong>
      </p>
      {action !== '' && <p>{action}</p>}
      <div class="facts-line">
        <code>{code}</code>
        {requestId !== undefined && (
          <span class="buttons">
            request <code class="breaks">{requestId}</code>
            <CopyButton text={`${code} ${requestId}`} label="Copy code and request id" />
          </span>
        )}
        {props.retry !== undefined && (
          <Button size="small" onClick={props.retry}>
            Try again
          </Button>
        )}
      </div>
    </div>
  );
}
