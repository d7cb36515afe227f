import type { RuleDocumentRecord, RuleTrialSoFar, SetRules } from '@convoke/sdk';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { inBackground } from '../../data/in-background.ts';
import { wasChangedSince } from '../../data/problems.ts';
import { rulesAsText, rulesIn } from '../../data/rules/rule-text.ts';
import { Button } from '../../parts/button.tsx';
import { useAction } from '../../parts/dialog.tsx';
import { TextArea } from '../../parts/field.tsx';
import { ProblemNote } from '../../parts/problem.tsx';
import { organizationClient } from '../../session/tenant-clients.ts';
import { RulesConflict } from './rules-conflict.tsx';
import { RulesTrial } from './rules-trial.tsx';

interface EditorProps {
  readonly org: string;
  readonly document: RuleDocumentRecord;
  readonly onSaved: (document: RuleDocumentRecord) => void;
  /** Called with the rules that another person has saved since the draft began. */
  readonly onChanged: (document: RuleDocumentRecord) => void;
  readonly onClose: () => void;
}

/** The rules as JSON. A draft can be tried over past calls before it is saved. */
export function RulesEditor(props: EditorProps): JSX.Element {
  const { text, setText, read, before, theirs, trial, run, isBusy, error } = useDraft(props);
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (read.ok && theirs === undefined) inBackground(run('save'));
      }}
    >
      <TextArea
        label="Rules as JSON"
        hint={
          <>
            A list; the first rule that matches a call decides.{' '}
            <a href="/docs/guides/rules">What a rule has</a>
          </>
        }
        wrong={read.ok ? undefined : read.problem}
        value={text}
        onInput={setText}
        rows={18}
        isCode
        autofocus
      />
      {error !== undefined && <ProblemNote error={error} />}
      {theirs !== undefined && (
        <RulesConflict
          key={theirs.version}
          before={before}
          theirs={theirs}
          canSave={read.ok}
          onSave={() => inBackground(run('save'))}
        />
      )}
      {/* Not disabled while busy, when a second press does nothing: a button that is disabled loses the focus. */}
      <div class="buttons end">
        <Button onClick={props.onClose}>Cancel</Button>
        <Button onClick={() => inBackground(run('try'))} disabled={!read.ok}>
          Try
        </Button>
        <Button kind="primary" type="submit" disabled={!read.ok || theirs !== undefined}>
          Save
        </Button>
      </div>
      {trial !== undefined && <RulesTrial trial={trial} isLoading={isBusy} />}
    </form>
  );
}

/** The text that a person edits, and what was found out about it. */
function useDraft({ org, document, onSaved, onChanged }: EditorProps) {
  const { rules } = organizationClient(org);
  // Not the newest: a screen that is read again must not let a draft replace what its author has not seen.
  const [before] = useState(document);
  const [theirs, setTheirs] = useState<RuleDocumentRecord | undefined>(undefined);
  const [text, setText] = useState(() => rulesAsText(before.rules));
  const [trial, setTrial] = useState<RuleTrialSoFar | undefined>(undefined);
  const read = rulesIn(text);
  // What is wrong with a rule is said by the server, with its place.
  const draft = (read.ok ? read.rules : []) as SetRules['rules'];
  const save = async () => {
    const { version } = theirs ?? before;
    try {
      onSaved(await rules.set({ version, rules: draft }));
    } catch (problem) {
      if (!wasChangedSince(problem)) throw problem;
      const current = await rules.get();
      setTrial(undefined);
      setTheirs(current);
      onChanged(current);
    }
  };
  const action = useAction(async (what: 'try' | 'save') => {
    if (what === 'save') {
      await save();
      return;
    }
    setTrial(undefined);
    for await (const found of rules.tryAll({ rules: draft })) setTrial(found);
  });
  const edit = (value: string) => {
    setText(value);
    setTrial(undefined);
  };
  return { text, setText: edit, read, before, theirs, trial, ...action };
}
