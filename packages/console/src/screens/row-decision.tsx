import type { Answer, InteractionRecord } from '@convoke/sdk';
import type { JSX } from 'preact';
import { askOfRecord, inputOf, isToldInRow, outcomeText } from '../data/ask.ts';
import { wasTooLate } from '../data/problems.ts';
import { Button } from '../parts/button.tsx';
import { useAction } from '../parts/dialog.tsx';
import { ProblemNote } from '../parts/problem.tsx';
import { type InteractionSummary, findInteraction } from '../session/api.ts';
import { useTenant } from '../session/use.ts';

/**
 * Decides a request in its row. What the row does not tell in full is not allowed from there: the whole card opens
 * instead (D-724).
 */
export function RowDecision(props: {
  readonly row: InteractionSummary;
  readonly onOpen: () => void;
  readonly onRecorded: (record: InteractionRecord) => void;
}): JSX.Element {
  const { row, onOpen, onRecorded } = props;
  const tenant = useTenant();
  const send = async (given: Answer) => {
    const { interactions } = tenant.client.sessions.at(row.session_id);
    try {
      onRecorded(await interactions.answer(row.interaction_key, given));
    } catch (problem) {
      if (!wasTooLate(problem)) throw problem;
      onRecorded(await findInteraction(tenant, row.interaction_key));
    }
  };
  const deny = useAction(() => send({ decision: 'deny' }));
  const allow = useAction(async () => {
    const record = await findInteraction(tenant, row.interaction_key);
    if (isToldInRow(inputOf(askOfRecord(record)))) await send({ decision: 'allow' });
    else onOpen();
  });
  const isBusy = deny.isBusy || allow.isBusy;
  const error = deny.error ?? allow.error;
  if (row.kind === 'question') {
    return (
      <Button size="small" onClick={onOpen}>
        Answer
      </Button>
    );
  }
  return (
    <>
      <Button size="small" onClick={deny.run} disabled={isBusy}>
        Deny
      </Button>
      <Button size="small" kind="primary" onClick={allow.run} disabled={isBusy}>
        Allow
      </Button>
      {error !== undefined && <ProblemNote error={error} />}
    </>
  );
}

/** The decision, in place of the buttons. */
export function RowOutcome({ record }: { readonly record: InteractionRecord }): JSX.Element {
  const { outcome } = askOfRecord(record);
  if (outcome === undefined) {
    const words =
      record.status === 'pending' ? 'Allowed, and waits for another person' : 'No longer waiting';
    return <span class="muted">{words}</span>;
  }
  const { glyph, words, tone } = outcomeText(outcome);
  return <span class={`nowrap ${tone}`} role="status">{`${glyph} ${words}`}</span>;
}
