import { ConvokeError, type Json, type JsonObject } from '@convoke/sdk';
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { inBackground } from '../../data/in-background.ts';
import { parsedObject } from '../../data/json-text.ts';
import {
  type SchemaField,
  type FieldInputs,
  fieldsOf,
  initialOf,
  inputOf,
  issuesByField,
} from '../../data/input/schema-fields.ts';
import { modifierKey } from '../../page/shortcuts.ts';
import { Button } from '../button.tsx';
import { SelectField, TextArea, TextField } from '../field.tsx';
import { ProblemNote } from '../problem.tsx';

/** Starts a run with more than a prompt: a field for each member, or the input as JSON (D-573). */
export function InputForm(props: {
  readonly schema: JsonObject;
  readonly onSend: (input: JsonObject) => Promise<unknown>;
  /** The initial prompt, if the agent takes one. */
  readonly draft?: string | undefined;
  /** Beside *Start*. */
  readonly actions?: ComponentChildren;
  /** Shown above the fields. */
  readonly notice?: ComponentChildren;
  /** Why nothing can be started. */
  readonly blocked?: string | undefined;
}): JSX.Element {
  const { schema } = props;
  const fields = useMemo(() => fieldsOf(schema), [schema]);
  const [typed, setTyped] = useState<FieldInputs>(() => initialOf(fields ?? [], props.draft));
  const [text, setText] = useState('{\n}');
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(undefined);
  const whole = parsedObject(text);
  const names = fields?.map(({ name }) => name) ?? [];
  const issues = issuesByField(error instanceof ConvokeError ? error.body?.['issues'] : [], names);
  const maySend = !isBusy && props.blocked === undefined && (fields !== undefined || whole.ok);
  const send = async () => {
    setBusy(true);
    setError(undefined);
    try {
      const input = fields === undefined && whole.ok ? whole.value : inputOf(fields ?? [], typed);
      await props.onSend(input);
    } catch (problem) {
      setError(problem);
    }
    setBusy(false);
  };
  const press = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    if (maySend) inBackground(send());
  };
  const form = useFirstWrong(error);
  const isSaid = issues.size > 0 && !issues.has('');
  return (
    <div class="stack tight input-form" ref={form} onKeyDown={press}>
      {error !== undefined && !isSaid && <ProblemNote error={error} />}
      {props.notice}
      {fields === undefined ? (
        <WholeInput text={text} onInput={setText} wrong={whole.ok ? undefined : whole.reason} />
      ) : (
        fields.map((field) => (
          <OneField
            key={field.name}
            field={field}
            value={typed[field.name]}
            wrong={issues.get(field.name)}
            onChange={(value) => setTyped({ ...typed, [field.name]: value })}
          />
        ))
      )}
      <div class="buttons end pinned">
        <span class="muted small of-keyboard">{`${modifierKey} Enter to start`}</span>
        {props.blocked !== undefined && <span class="muted small">{props.blocked}</span>}
        {props.actions}
        <Button kind="primary" size="small" onClick={send} disabled={!maySend}>
          Start
        </Button>
      </div>
    </div>
  );
}

/** Where the first refused field is shown, once there is one. */
function useFirstWrong(error: unknown) {
  const form = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const wrong = form.current?.querySelector<HTMLElement>('[aria-invalid="true"]');
    wrong?.focus();
    wrong?.closest('.field')?.scrollIntoView({ block: 'nearest' });
  }, [error]);
  return form;
}

function WholeInput(props: {
  readonly text: string;
  readonly onInput: (text: string) => void;
  readonly wrong: string | undefined;
}): JSX.Element {
  const { text, onInput, wrong } = props;
  return <TextArea label="Input" value={text} onInput={onInput} isCode rows={6} wrong={wrong} />;
}

interface OneFieldProps {
  readonly field: SchemaField;
  readonly value: FieldInputs[string];
  readonly wrong: string | undefined;
  readonly onChange: (value: string | boolean) => void;
}

function OneField({ field, value, wrong, onChange }: OneFieldProps): JSX.Element {
  const { name, hint, isRequired } = field;
  const label = isRequired ? `${field.label} (required)` : field.label;
  const text = typeof value === 'string' ? value : '';
  const common = { label, hint, wrong, value: text, onInput: onChange };
  switch (field.kind) {
    case 'text':
      return name === 'prompt' ? <TextArea {...common} rows={3} /> : <TextField {...common} />;
    case 'number':
      return <TextField {...common} isNumber />;
    case 'lines':
      return <TextArea {...common} hint={hint ?? 'One in each line.'} rows={3} />;
    case 'json':
      return <TextArea {...common} hint={hint ?? 'JSON'} isCode rows={3} />;
    case 'choice':
      return <SelectField {...common} onChange={onChange} choices={choicesOf(field.values)} />;
    case 'flag':
      return (
        <div class="field">
          <label class="check">
            <input
              type="checkbox"
              checked={value === true}
              onChange={(event) => onChange(event.currentTarget.checked)}
            />
            {label}
          </label>
          {wrong !== undefined && <p class="wrong">{wrong}</p>}
          {hint !== undefined && <p class="hint">{hint}</p>}
        </div>
      );
    default:
      return field satisfies never;
  }
}

function choicesOf(values: readonly Json[]) {
  const named = values.map((value, index) => ({
    value: String(index),
    label: typeof value === 'string' ? value : JSON.stringify(value),
  }));
  return [{ value: '', label: 'Choose…' }, ...named];
}
