import type { ComponentChildren, JSX } from 'preact';
import { inBackground } from '../data/in-background.ts';

export interface ButtonProps {
  readonly children: ComponentChildren;
  readonly onClick?: (() => unknown) | undefined;
  readonly kind?: 'plain' | 'primary' | 'danger' | 'quiet' | undefined;
  readonly size?: 'small' | 'icon' | undefined;
  readonly type?: 'button' | 'submit' | undefined;
  readonly disabled?: boolean | undefined;
  /** False where the role of the person does not allow it: the button says so. */
  readonly isAllowed?: boolean | undefined;
  /** For buttons whose visible text is not clear on its own. */
  readonly ariaLabel?: string | undefined;
  readonly title?: string | undefined;
  readonly autofocus?: boolean | undefined;
  readonly pressed?: boolean | undefined;
  readonly expanded?: boolean | undefined;
}

export function Button(props: ButtonProps): JSX.Element {
  const { children, onClick, kind = 'plain', size = '', type = 'button', isAllowed = true } = props;
  return (
    <button
      type={type}
      class={`button ${kind} ${size}`}
      onClick={() => inBackground(Promise.resolve(onClick?.()))}
      disabled={props.disabled === true || !isAllowed}
      aria-label={props.ariaLabel}
      title={isAllowed ? props.title : 'Your role doesn’t allow this'}
      autofocus={props.autofocus}
      aria-pressed={props.pressed}
      aria-expanded={props.expanded}
    >
      {children}
    </button>
  );
}
