import type { JSX } from 'preact';
import { useImperativeHandle, useRef, useState } from 'preact/hooks';
import { type Ask, mayAllow, mayEdit } from '../../data/ask.ts';
import { comparableText, jsonText, parsedObject } from '../../data/json-text.ts';
import { Button } from '../button.tsx';
import { TextField } from '../field.tsx';
import { Difference } from '../input/difference.tsx';
import { InputEditor } from '../input/input-editor.tsx';
import { AllowButton } from './allow-button.tsx';
import { Approvals, NeedsOthers } from './approvers.tsx';
import type { AskFormProps } from './ask-form-props.ts';
import { unseenWords, useUnseen } from './unseen.ts';

/** Allows or denies a call. Editing replaces the requested input; parts that were never in view are named (D-722). */
export function PermissionForm(props: AskFormProps): JSX.Element {
  const { ask, isReady, isWholeShown, onAnswer, handle } = props;
  const original = jsonText(ask.toolInput);
  const [message, setMessage] = useState('');
  const [edited, setEdited] = useState<string | undefined>(undefined);
  const [isWarned, setWarned] = useState(false);
  const frame = useRef<HTMLDivElement>(null);
  const input = useRef<HTMLDivElement>(null);
  const bar = useRef<HTMLDivElement>(null);
  const unseen = unseenWords(useUnseen({ input, bar }, ask.key));
  const parsed = edited === undefined ? undefined : parsedObject(edited);
  const isChanged = edited !== undefined && edited.trim() !== original;
  const said = message.trim() === '' ? {} : { message: message.trim() };
  const isApprover = mayAllow(ask);
  const canPress = isApprover && isReady && isWholeShown && parsed?.ok !== false;
  const allow = (remember?: Ask['canRemember']) => {
    if (!canPress) return;
    const changed = parsed?.ok === true && isChanged ? { updated_input: parsed.value } : {};
    onAnswer({ decision: 'allow', ...said, ...changed, ...(remember && { remember }) });
  };
  // A key is easily pressed by mistake, and a button names the unseen parts.
  const allowByKey = () => (unseen === undefined || isWarned ? allow() : setWarned(true));
  const deny = () => onAnswer({ decision: 'deny', ...said });
  const edit = () => setEdited((text) => (text === undefined ? original : undefined));
  const find = (selector: string) => frame.current?.querySelector<HTMLElement>(selector);
  const press = (key: string) => {
    if (key === 'a') allowByKey();
    else if (key === 'd' && isReady) deny();
    else if (key === 'e' && mayEdit(ask)) edit();
    else if (key === 'm') find('.allow .menu button')?.click();
    else if (key === 'r') find('.decision input')?.focus();
    else return false;
    return true;
  };
  useImperativeHandle(handle, () => ({ press }));
  return (
    <div class="stack" ref={frame}>
      <div class="stack" ref={input}>
        {edited === undefined ? (
          props.children
        ) : (
          <Editor ask={ask} text={edited} isChanged={isChanged} onChange={setEdited} />
        )}
      </div>
      <div class="decision" ref={bar}>
        <Approvals ask={ask} />
        <Warning
          isWholeShown={isWholeShown || !isApprover}
          unseen={isWarned ? unseen : undefined}
        />
        <TextField
          label="Message to the agent (optional)"
          isLabelInside
          value={message}
          onInput={setMessage}
          max={2000}
        />
        <div class="buttons">
          <EditOrNeeds ask={ask} isEditing={edited !== undefined} onEdit={edit} />
          <span class="grow" />
          <Button onClick={deny} disabled={!isReady}>
            Deny <kbd>d</kbd>
          </Button>
          {isApprover && <AllowButton {...{ ask, isChanged, unseen, canPress }} onAllow={allow} />}
        </div>
      </div>
    </div>
  );
}

/** The input of a call is edited by a person who may allow it; another one sees who may. */
function EditOrNeeds(props: {
  readonly ask: Ask;
  readonly isEditing: boolean;
  readonly onEdit: () => void;
}): JSX.Element | null {
  if (!mayAllow(props.ask)) return <NeedsOthers ask={props.ask} />;
  if (!mayEdit(props.ask)) return null;
  return (
    <Button onClick={props.onEdit} kind="quiet" pressed={props.isEditing}>
      {props.isEditing ? 'Discard changes' : 'Edit input'} <kbd>e</kbd>
    </Button>
  );
}

/** Replaces the requested input while a person edits it, and shows the difference. */
function Editor(props: {
  readonly ask: Ask;
  readonly text: string;
  readonly isChanged: boolean;
  readonly onChange: (text: string) => void;
}): JSX.Element {
  const { ask, text, isChanged, onChange } = props;
  const parsed = parsedObject(text);
  return (
    <>
      <InputEditor text={text} onChange={onChange} />
      {isChanged && parsed.ok && (
        <Difference
          label="Your changes"
          before={comparableText(ask.toolInput)}
          after={comparableText(parsed.value)}
        />
      )}
    </>
  );
}

function Warning(props: {
  readonly isWholeShown: boolean;
  readonly unseen: string | undefined;
}): JSX.Element | null {
  const { isWholeShown, unseen } = props;
  if (!isWholeShown) {
    return <p class="small waiting">You see part of the input. Open all of it to allow it.</p>;
  }
  if (unseen === undefined) return null;
  return (
    <p class="small waiting" role="status">
      {`${unseen}. Press a again to allow all of it.`}
    </p>
  );
}
