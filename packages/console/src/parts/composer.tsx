import type { ComponentChildren, JSX } from 'preact';
import { useId, useRef, useState } from 'preact/hooks';
import { bytes } from '../data/formats.ts';
import { inBackground } from '../data/in-background.ts';
import { modifierKey } from '../page/shortcuts.ts';
import { Button } from './button.tsx';
import { Icon } from './icon.tsx';
import { ProblemNote } from './problem.tsx';

export interface ComposerProps {
  readonly onSend: (prompt: string, files: readonly File[]) => Promise<unknown>;
  /** The question that the typed text answers. */
  readonly answers?: string | undefined;
  /** Shown above the field: the question that is answered, or the run that is stopped. */
  readonly notice?: ComponentChildren;
  /** Beside *Send*. */
  readonly actions?: ComponentChildren;
  readonly takesFiles: boolean;
  /** The initial text. */
  readonly draft?: string | undefined;
  /** Why nothing can be sent. */
  readonly blocked?: string | undefined;
}

/** Where a person writes to an agent. The typed text stays until the server has accepted it. */
export function Composer(props: ComposerProps): JSX.Element {
  const [text, setText] = useState(props.draft ?? '');
  const [files, setFiles] = useState<readonly File[]>([]);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(undefined);
  const id = useId();
  const { answers } = props;
  const maySend = text.trim() !== '' && !isBusy && props.blocked === undefined;
  const send = async () => {
    if (!maySend) return;
    setBusy(true);
    setError(undefined);
    try {
      await props.onSend(text, files);
      setText('');
      setFiles([]);
    } catch (problem) {
      setError(problem);
    }
    setBusy(false);
  };
  const press = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      inBackground(send());
    }
  };
  return (
    <div class="stack tight">
      {error !== undefined && <ProblemNote error={error} />}
      <div id={`${id}-notice`} class="stack tight">
        {props.notice}
      </div>
      <div class="composer">
        <textarea
          aria-label="Message to the agent"
          aria-describedby={`${id}-notice`}
          placeholder={props.blocked ?? (answers === undefined ? 'Message…' : `Answer: ${answers}`)}
          value={text}
          disabled={props.blocked !== undefined}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={press}
        />
        {files.length > 0 && <FileChips files={files} onChange={setFiles} />}
        <div class="bar">
          {props.takesFiles && answers === undefined && props.blocked === undefined && (
            <Attach onChoose={(more) => setFiles([...files, ...more])} />
          )}
          <span class="muted small of-keyboard">{`${modifierKey} Enter to ${answers === undefined ? 'send' : 'answer'}`}</span>
          <div class="buttons">
            {props.actions}
            <Button kind="primary" size="small" onClick={send} disabled={!maySend}>
              Send
            </Button>
          </div>
        </div>
      </div>
    </div>
  );
}

function Attach(props: { readonly onChoose: (files: readonly File[]) => void }): JSX.Element {
  const picker = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={picker}
        type="file"
        multiple
        hidden
        aria-label="Files to attach"
        onChange={(event) => {
          props.onChoose([...(event.currentTarget.files ?? [])]);
          event.currentTarget.value = '';
        }}
      />
      <Button kind="quiet" size="small" onClick={() => picker.current?.click()}>
        <Icon name="Paperclip" /> Attach
      </Button>
    </>
  );
}

function FileChips(props: {
  readonly files: readonly File[];
  readonly onChange: (files: readonly File[]) => void;
}): JSX.Element {
  const { files, onChange } = props;
  return (
    <div class="chips">
      {files.map((file) => (
        <span class="chip" key={`${file.name}${file.size}`}>
          <span class="clip">{file.name}</span>
          <span class="muted nowrap">{bytes(file.size)}</span>
          <button
            type="button"
            aria-label={`Remove ${file.name}`}
            onClick={() => onChange(files.filter((other) => other !== file))}
          >
            ×
          </button>
        </span>
      ))}
    </div>
  );
}
