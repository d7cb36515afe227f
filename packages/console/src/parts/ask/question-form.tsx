import type { JSX } from 'preact';
import { useImperativeHandle, useRef, useState } from 'preact/hooks';
import type { Ask } from '../../data/ask.ts';
import { Button } from '../button.tsx';
import { TextField } from '../field.tsx';
import type { AskFormProps } from './ask-form-props.ts';

/** Options that have a digit. */
const maxDigit = 9;

/** A question with its options: a digit chooses one, Enter sends. */
export function QuestionForm(props: AskFormProps): JSX.Element {
  const { ask, isReady, isWholeShown, onAnswer, handle } = props;
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const [text, setText] = useState('');
  const frame = useRef<HTMLFormElement>(null);
  const { options = [], isMultiple } = ask;
  // The server itself asks about accounts and lost calls: it knows its own options only.
  const takesWords = ask.about === undefined || options.length === 0;
  const typed = text.trim();
  const answers = typed === '' ? chosen : isMultiple ? [...chosen, typed] : [typed];
  const maySend = isReady && isWholeShown && answers.length > 0;
  const send = () => {
    if (!maySend) return;
    onAnswer({ answer: isMultiple ? answers : (answers[0] ?? '') });
  };
  const choose = (label: string, isChosen: boolean) => {
    if (!isMultiple) {
      setText('');
      setChosen([label]);
    } else setChosen(isChosen ? [...chosen, label] : chosen.filter((other) => other !== label));
  };
  const press = (key: string) => {
    const option = /^[1-9]$/.test(key) ? options[Number(key) - 1] : undefined;
    if (option !== undefined) choose(option.label, !chosen.includes(option.label));
    else if (key === 'Enter') send();
    else if (key === 'r') frame.current?.querySelector<HTMLElement>('.decision input')?.focus();
    else return false;
    return true;
  };
  useImperativeHandle(handle, () => ({ press }));
  return (
    <form
      class="stack"
      ref={frame}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {props.children}
      {options.length > 0 && (
        <Options ask={ask} chosen={typed !== '' && !isMultiple ? [] : chosen} onChoose={choose} />
      )}
      <div class="decision">
        {!isWholeShown && (
          <p class="small waiting">You see part of the input. Open all of it to answer.</p>
        )}
        {takesWords && (
          <TextField
            label={options.length > 0 ? 'Or type your own answer' : 'Your answer'}
            isLabelInside
            value={text}
            onInput={setText}
            max={10_000}
          />
        )}
        <div class="buttons end">
          <Button onClick={() => onAnswer({ declined: true })} disabled={!isReady}>
            Decline
          </Button>
          <Button kind="primary" type="submit" disabled={!maySend}>
            Answer <kbd aria-hidden="true">Enter</kbd>
          </Button>
        </div>
      </div>
    </form>
  );
}

function Options(props: {
  readonly ask: Ask;
  readonly chosen: readonly string[];
  readonly onChoose: (label: string, isChosen: boolean) => void;
}): JSX.Element {
  const { ask, chosen, onChoose } = props;
  return (
    <fieldset class="choices">
      <legend class="hidden-text">{ask.isMultiple ? 'Choose any' : 'Choose one'}</legend>
      {(ask.options ?? []).map(({ label, description }, index) => (
        <label key={label} class="option">
          <input
            type={ask.isMultiple ? 'checkbox' : 'radio'}
            name={`ask-${ask.key}`}
            checked={chosen.includes(label)}
            onChange={(event) => onChoose(label, event.currentTarget.checked)}
          />
          <span>
            {label}
            {description !== undefined && <span class="muted">{description}</span>}
          </span>
          {index < maxDigit && <kbd aria-hidden="true">{index + 1}</kbd>}
        </label>
      ))}
    </fieldset>
  );
}
