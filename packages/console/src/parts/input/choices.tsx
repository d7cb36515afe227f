import type { ComponentChildren, JSX } from 'preact';
import type { Choice } from '../field.tsx';

/** Several of a list, each with a box. */
export function Choices(props: {
  readonly label: string;
  readonly choices: readonly Choice[];
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
  readonly hint?: ComponentChildren;
}): JSX.Element {
  const { choices, chosen, onChange } = props;
  return (
    <fieldset class="choices">
      <legend>{props.label}</legend>
      <div class="choice-list">
        {choices.map(({ value, label }) => (
          <label key={value} class="check">
            <input
              type="checkbox"
              checked={chosen.includes(value)}
              onChange={({ currentTarget }) =>
                onChange(
                  currentTarget.checked
                    ? [...chosen, value]
                    : chosen.filter((other) => other !== value),
                )
              }
            />
            {label}
          </label>
        ))}
      </div>
      {props.hint !== undefined && <p class="muted small">{props.hint}</p>}
    </fieldset>
  );
}
