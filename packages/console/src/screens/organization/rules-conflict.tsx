import type { RuleDocumentRecord } from '@convoke/sdk';
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { rulesAsText } from '../../data/rules/rule-text.ts';
import { Button } from '../../parts/button.tsx';
import { Difference } from '../../parts/input/difference.tsx';
import { Time } from '../../parts/time.tsx';
import { personName } from '../../session/session.ts';

/** The rules were replaced while a person wrote a draft: shows what is new in them, and saves the draft over it. */
export function RulesConflict(props: {
  /** The rules that the draft was made of. */
  readonly before: RuleDocumentRecord;
  readonly theirs: RuleDocumentRecord;
  readonly canSave: boolean;
  readonly onSave: () => void;
}): JSX.Element {
  const { before, theirs, canSave, onSave } = props;
  const [isShown, setShown] = useState(false);
  const frame = useRef<HTMLDivElement>(null);
  // Not to the button that overwrites: the person has just pressed the one that saves, and may do so again.
  useEffect(() => frame.current?.querySelector('button')?.focus(), []);
  const { updated_at: at, updated_by: by, updated_by_name: name } = theirs;
  const who = name ?? (by === undefined ? 'another person' : personName(by));
  return (
    <div class="note waiting-note" ref={frame}>
      <div role="alert">
        <p>
          <strong>{`The rules were changed by ${who} since you began.`}</strong>
          {at !== undefined && (
            <span class="muted small">
              {' '}
              <Time at={at} />
            </span>
          )}
        </p>
        <p>Your draft is still here, and is not saved. “Cancel” discards it.</p>
      </div>
      <div class="buttons">
        <Button size="small" expanded={isShown} onClick={() => setShown(!isShown)}>
          {isShown ? 'Hide theirs' : 'Show theirs'}
        </Button>
        <Button size="small" onClick={onSave} disabled={!canSave}>
          Save mine over it
        </Button>
      </div>
      {isShown && (
        <Difference
          label={`What ${who} changed`}
          before={rulesAsText(before.rules)}
          after={rulesAsText(theirs.rules)}
        />
      )}
    </div>
  );
}
