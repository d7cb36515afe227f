import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';

interface LabelledField {
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly wrong?: string | undefined;
  /** The label stands in the empty field, where there is no room above it. */
  readonly isLabelInside?: boolean | undefined;
}

export interface TextFieldProps extends LabelledField {
  readonly value: string;
  readonly onInput: (value: string) => void;
  /** Digits: a telephone shows its keys for them. */
  readonly isNumber?: boolean | undefined;
  /** For a person's own account: browsers and password managers fill it in. */
  readonly account?: 'name' | 'email' | 'new-password' | undefined;
  /** A secret of a service: not readable on the screen, and nothing for a password manager to fill in. */
  readonly isSecret?: boolean | undefined;
  /** A time of the day, `09:30`. */
  readonly clock?: boolean | undefined;
  /** Texts that the browser suggests while a person types. */
  readonly suggestions?: readonly string[] | undefined;
  readonly required?: boolean | undefined;
  readonly placeholder?: string | undefined;
  readonly autofocus?: boolean | undefined;
  readonly max?: number | undefined;
  /** Shown, but not to be changed. */
  readonly isFixed?: boolean | undefined;
}

export function TextField(props: TextFieldProps): JSX.Element {
  const id = useId();
  const common = {
    id,
    class: 'input',
    value: props.value,
    onInput: ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) =>
      props.onInput(currentTarget.value),
    required: props.required,
    readOnly: props.isFixed,
    placeholder: props.isLabelInside === true ? props.label : props.placeholder,
    autofocus: props.autofocus,
    maxLength: props.max,
    spellcheck: false,
    'aria-invalid': props.wrong !== undefined,
    'aria-describedby': `${id}-more`,
  };
  return (
    <Frame {...props} id={id}>
      {props.account === 'name' && <input {...common} type="text" autocomplete="name" />}
      {props.account === 'email' && <input {...common} type="email" autocomplete="username" />}
      {props.account === 'new-password' && (
        <input {...common} type="password" autocomplete="new-password" />
      )}
      {props.isSecret === true && <input {...common} type="password" autocomplete="off" />}
      {props.clock === true && <input {...common} type="time" />}
      {props.account === undefined && props.isSecret !== true && props.clock !== true && (
        <input
          {...common}
          type="text"
          list={props.suggestions === undefined ? undefined : `${id}-list`}
          inputMode={props.isNumber === true ? 'numeric' : 'text'}
          autocomplete="off"
        />
      )}
      {props.suggestions !== undefined && (
        <datalist id={`${id}-list`}>
          {props.suggestions.map((value) => (
            <option key={value} value={value} />
          ))}
        </datalist>
      )}
    </Frame>
  );
}

export interface TextAreaProps extends LabelledField {
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly isCode?: boolean | undefined;
  readonly rows?: number | undefined;
  readonly autofocus?: boolean | undefined;
}

export function TextArea(props: TextAreaProps): JSX.Element {
  const id = useId();
  const area = useRef<HTMLTextAreaElement>(null);
  // A browser heeds the attribute once for a page, and a person may open an editor again.
  useEffect(() => {
    if (props.autofocus === true) area.current?.focus();
  }, []);
  return (
    <Frame {...props} id={id}>
      <textarea
        id={id}
        ref={area}
        class={`input ${props.isCode === true ? 'code' : ''}`}
        value={props.value}
        rows={props.rows}
        onInput={(event) => props.onInput(event.currentTarget.value)}
        autofocus={props.autofocus}
        spellcheck={props.isCode !== true}
        aria-invalid={props.wrong !== undefined}
        aria-describedby={`${id}-more`}
      />
    </Frame>
  );
}

export interface Choice {
  readonly value: string;
  readonly label: string;
}

export function SelectField(
  props: LabelledField & {
    readonly value: string;
    readonly choices: readonly Choice[];
    readonly onChange: (value: string) => void;
  },
): JSX.Element {
  const id = useId();
  return (
    <Frame {...props} id={id}>
      <Select {...props} id={id} />
    </Frame>
  );
}

export function Select(props: {
  readonly value: string;
  readonly choices: readonly Choice[];
  readonly onChange: (value: string) => void;
  readonly id?: string | undefined;
  /** Where no label stands beside it. */
  readonly name?: string | undefined;
}): JSX.Element {
  return (
    <select
      id={props.id}
      class="input"
      aria-label={props.name}
      value={props.value}
      onChange={(event) => props.onChange(event.currentTarget.value)}
    >
      {props.choices.map(({ value, label }) => (
        <option key={value} value={value} selected={value === props.value}>
          {label}
        </option>
      ))}
    </select>
  );
}

function Frame(
  props: LabelledField & { readonly id: string; readonly children: ComponentChildren },
): JSX.Element {
  return (
    <div class="field">
      <label for={props.id} class={props.isLabelInside === true ? 'hidden-text' : undefined}>
        {props.label}
      </label>
      {props.children}
      <div id={`${props.id}-more`}>
        {props.wrong !== undefined && <p class="wrong">{props.wrong}</p>}
        {props.hint !== undefined && <p class="hint">{props.hint}</p>}
      </div>
    </div>
  );
}
