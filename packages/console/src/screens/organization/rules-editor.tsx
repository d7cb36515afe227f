import type { RuleDocumentRecord, SetRules } from '@convoke/sdk';
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
import { RulesTrial, useRulesTrial } from './rules-trial.tsx';

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
  const { text, edit, read, before, theirs, trial, error, save, attempt } = useDraft(props);
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (read.ok && theirs === undefined) inBackground(save());
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
        onInput={edit}
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
          onSave={() => inBackground(save())}
        />
      )}
      {/* Not disabled while busy, which loses the focus. A second Save does nothing, a second Try begins again. */}
      <div class="buttons end">
        <Button onClick={props.onClose}>Cancel</Button>
        <Button onClick={() => inBackground(attempt())} disabled={!read.ok}>
          Try
        </Button>
        <Button kind="primary" type="submit" disabled={!read.ok || theirs !== undefined}>
          Save
        </Button>
      </div>
      {trial.isLoading && trial.found === undefined && (
        <p role="status" class="muted">
          Looking at past calls…
        </p>
      )}
      {trial.found !== undefined && <RulesTrial trial={trial.found} isLoading={trial.isLoading} />}
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
  const trial = useRulesTrial(org);
  const read = rulesIn(text);
  // What is wrong with a rule is said by the server, with its place.
  const draft = (read.ok ? read.rules : []) as SetRules['rules'];
  const saving = useAction(async () => {
    const { version } = theirs ?? before;
    try {
      onSaved(await rules.set({ version, rules: draft }));
    } catch (problem) {
      if (!wasChangedSince(problem)) throw problem;
      const current = await rules.get();
      trial.stop();
      setTheirs(current);
      onChanged(current);
    }
  });
  return {
    text,
    edit: (value: string) => {
      setText(value);
      trial.stop();
    },
    read,
    before,
    theirs,
    trial,
    error: saving.error ?? trial.error,
    save: saving.run,
    attempt: () => {
      saving.clear();
      return trial.start(draft);
    },
  };
}
