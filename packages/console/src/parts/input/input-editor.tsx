import type { Json } from '@convoke/sdk';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { type FlatInput, flatInput, jsonText, parsedObject } from '../../data/json-text.ts';
import { Button } from '../button.tsx';
import { SelectField, TextArea, TextField } from '../field.tsx';

/** Edits the input of a tool: its members as fields if it is flat, else its JSON text, which is sent. */
export function InputEditor(props: {
  readonly text: string;
  readonly onChange: (text: string) => void;
}): JSX.Element {
  const { text, onChange } = props;
  const [isJson, setJson] = useState(false);
  // A number stays a number, even while the typed text is not one yet.
  const [numbers] = useState(() => numbersIn(text));
  const parsed = parsedObject(text);
  const flat = parsed.ok ? flatInput(parsed.value) : undefined;
  if (flat === undefined || isJson) {
    return (
      <TextArea
        label="Input for the tool"
        value={text}
        onInput={onChange}
        isCode
        autofocus
        wrong={parsed.ok ? undefined : parsed.reason}
      />
    );
  }
  const set = (name: string, value: Json) => onChange(jsonText({ ...flat, [name]: value }));
  return (
    <div class="stack tight">
      {Object.entries(flat).map(([name, value], index) => (
        <Member
          key={name}
          name={name}
          value={value}
          isNumber={numbers.has(name)}
          isFirst={index === 0}
          onChange={(changed) => set(name, changed)}
        />
      ))}
      <div>
        <Button size="small" kind="quiet" onClick={() => setJson(true)}>
          Edit as JSON
        </Button>
      </div>
    </div>
  );
}

/** A text longer than this, or with lines, has a field with lines. */
const lineCharacters = 80;

function Member(props: {
  readonly name: string;
  readonly value: FlatInput[string];
  readonly isNumber: boolean;
  readonly isFirst: boolean;
  readonly onChange: (value: Json) => void;
}): JSX.Element {
  const { name, value, onChange, isNumber, isFirst } = props;
  if (typeof value === 'boolean') {
    return (
      <SelectField
        label={name}
        value={String(value)}
        choices={['true', 'false'].map((one) => ({ value: one, label: one }))}
        onChange={(chosen) => onChange(chosen === 'true')}
      />
    );
  }
  if (isNumber) {
    const typed = (text: string) =>
      onChange(text.trim() !== '' && String(Number(text)) === text.trim() ? Number(text) : text);
    return (
      <TextField label={name} value={String(value)} onInput={typed} isNumber autofocus={isFirst} />
    );
  }
  const words = String(value);
  const isLong = words.length > lineCharacters || words.includes('\n');
  return isLong ? (
    <TextArea label={name} value={words} onInput={onChange} rows={6} autofocus={isFirst} />
  ) : (
    <TextField label={name} value={words} onInput={onChange} autofocus={isFirst} />
  );
}

function numbersIn(text: string): ReadonlySet<string> {
  const parsed = parsedObject(text);
  const members = parsed.ok ? Object.entries(parsed.value) : [];
  return new Set(members.flatMap(([name, value]) => (typeof value === 'number' ? [name] : [])));
}
