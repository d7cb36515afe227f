import type { Answer } from '@convoke/sdk';
import type { JSX, Ref } from 'preact';
import { useImperativeHandle, useRef, useState } from 'preact/hooks';
import type { Ask } from '../../data/ask.ts';
import { comparableText, jsonText, parsedObject } from '../../data/json-text.ts';
import { Button } from '../button.tsx';
import { Difference } from '../input/difference.tsx';
import { TextField } from '../field.tsx';
import { InputEditor } from '../input/input-editor.tsx';

export interface AskFormHandle {
  /** Acts on a key of the card; returns whether it meant something. */
  press(key: string): boolean;
}

export interface AskFormProps {
  readonly ask: Ask;
  readonly isReady: boolean;
  /** Until it is, a person can only refuse. */
  readonly isWholeShown: boolean;
  readonly onAnswer: (answer: Answer) => void;
  readonly ref?: Ref<AskFormHandle>;
}

export function AskForm(props: AskFormProps): JSX.Element {
  const isPermission = props.ask.kind === 'permission';
  const Form = isPermission ? PermissionForm : QuestionForm;
  return (
    <>
      {!props.isWholeShown && (
        <p class="small waiting">
          {`You see part of the input. Open all of it to ${isPermission ? 'allow it' : 'answer'}.`}
        </p>
      )}
      <Form {...props} handle={props.ref} />
    </>
  );
}

type FormProps = Omit<AskFormProps, 'ref'> & { readonly handle: Ref<AskFormHandle> | undefined };

function PermissionForm(props: FormProps): JSX.Element {
  const { ask, isReady, isWholeShown, onAnswer, handle } = props;
  const original = jsonText(ask.toolInput);
  const [message, setMessage] = useState('');
  const [edited, setEdited] = useState<string | undefined>(undefined);
  const messageField = useRef<HTMLDivElement>(null);
  const parsed = edited === undefined ? undefined : parsedObject(edited);
  const isChanged = edited !== undefined && edited.trim() !== original;
  const said = message.trim() === '' ? {} : { message: message.trim() };
  const mayAllow = isReady && isWholeShown && parsed?.ok !== false;
  const allow = () => {
    if (!mayAllow) return;
    const input = parsed?.ok === true && isChanged ? { updated_input: parsed.value } : {};
    onAnswer({ decision: 'allow', ...said, ...input });
  };
  const deny = () => onAnswer({ decision: 'deny', ...said });
  const edit = () => setEdited((text) => (text === undefined ? original : undefined));
  const press = (key: string) => {
    if (key === 'a') allow();
    else if (key === 'd' && isReady) deny();
    else if (key === 'e') edit();
    else if (key === 'r') messageField.current?.querySelector('input')?.focus();
    else return false;
    return true;
  };
  useImperativeHandle(handle ?? null, () => ({ press }));
  return (
    <div class="stack">
      {edited !== undefined && (
        <>
          <InputEditor text={edited} onChange={setEdited} />
          {isChanged && parsed?.ok === true && (
            <Difference
              label="Your changes"
              before={comparableText(ask.toolInput)}
              after={comparableText(parsed.value)}
            />
          )}
        </>
      )}
      <div ref={messageField}>
        <TextField
          label="Message to the agent (optional)"
          value={message}
          onInput={setMessage}
          max={2000}
        />
      </div>
      <div class="buttons">
        <Button onClick={edit} kind="quiet" pressed={edited !== undefined}>
          {edited === undefined ? 'Edit input' : 'Discard changes'} <kbd>e</kbd>
        </Button>
        <span class="grow" />
        <Button onClick={deny} disabled={!isReady}>
          Deny <kbd>d</kbd>
        </Button>
        <Button kind="primary" onClick={allow} disabled={!mayAllow}>
          {isChanged ? 'Allow with changes' : 'Allow'} <kbd>a</kbd>
        </Button>
      </div>
    </div>
  );
}

function QuestionForm(props: FormProps): JSX.Element {
  const { ask, isReady, isWholeShown, onAnswer, handle } = props;
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const [text, setText] = useState('');
  const frame = useRef<HTMLFormElement>(null);
  const { options = [], isMultiple } = ask;
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
    if (key !== 'r') return false;
    frame.current?.querySelector<HTMLElement>('input')?.focus();
    return true;
  };
  useImperativeHandle(handle ?? null, () => ({ press }));
  return (
    <form
      class="stack"
      ref={frame}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {options.length > 0 && (
        <Options ask={ask} chosen={typed !== '' && !isMultiple ? [] : chosen} onChoose={choose} />
      )}
      <TextField
        label={options.length > 0 ? 'Or type your own answer' : 'Your answer'}
        value={text}
        onInput={setText}
        max={10_000}
      />
      <div class="buttons end">
        <Button onClick={() => onAnswer({ declined: true })} disabled={!isReady}>
          Decline
        </Button>
        <Button kind="primary" type="submit" disabled={!maySend}>
          Answer
        </Button>
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
      {(ask.options ?? []).map(({ label, description }) => (
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
        </label>
      ))}
    </fieldset>
  );
}
