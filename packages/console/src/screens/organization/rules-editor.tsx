import type { RuleDocumentRecord, RuleTrialSoFar, SetRules } from '@convoke/sdk';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { inBackground } from '../../data/in-background.ts';
import { rulesAsText, rulesIn } from '../../data/rules/rule-text.ts';
import { Button } from '../../parts/button.tsx';
import { useAction } from '../../parts/dialog.tsx';
import { TextArea } from '../../parts/field.tsx';
import { ProblemNote } from '../../parts/problem.tsx';
import { organizationClient } from '../../session/tenant-clients.ts';
import { RulesTrial } from './rules-trial.tsx';

/** The rules as JSON. A draft can be tried over past calls before it is saved. */
export function RulesEditor(props: {
  readonly org: string;
  readonly document: RuleDocumentRecord;
  readonly onSaved: (document: RuleDocumentRecord) => void;
  readonly onClose: () => void;
}): JSX.Element {
  const { org, document, onSaved, onClose } = props;
  const { rules } = organizationClient(org);
  const [text, setText] = useState(() => rulesAsText(document.rules));
  const [trial, setTrial] = useState<RuleTrialSoFar | undefined>(undefined);
  const read = rulesIn(text);
  // What is wrong with a rule is said by the server, with its place.
  const draft = (read.ok ? read.rules : []) as SetRules['rules'];
  const { run, isBusy, error } = useAction(async (action: 'try' | 'save') => {
    if (action === 'save') {
      onSaved(await rules.set({ version: document.version, rules: draft }));
      return;
    }
    setTrial(undefined);
    for await (const found of rules.tryAll({ rules: draft })) setTrial(found);
  });
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (read.ok) inBackground(run('save'));
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
        onInput={(value) => {
          setText(value);
          setTrial(undefined);
        }}
        rows={18}
        isCode
        autofocus
      />
      {error !== undefined && <ProblemNote error={error} />}
      {/* Not disabled while busy, when a second press does nothing: a button that is disabled loses the focus. */}
      <div class="buttons end">
        <Button onClick={onClose}>Cancel</Button>
        <Button onClick={() => inBackground(run('try'))} disabled={!read.ok}>
          Try
        </Button>
        <Button kind="primary" type="submit" disabled={!read.ok}>
          Save
        </Button>
      </div>
      {trial !== undefined && <RulesTrial trial={trial} isLoading={isBusy} />}
    </form>
  );
}
