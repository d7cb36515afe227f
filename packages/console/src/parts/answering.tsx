import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { RunStore } from '../data/run-store.ts';
import { oneOpenQuestion } from '../data/transcript.ts';
import { useRight } from '../session/use.ts';
import { Button } from './button.tsx';

/** The question that the composer answers, and its hint. */
export interface Answering {
  readonly asked: ReturnType<typeof oneOpenQuestion>;
  readonly notice: JSX.Element | undefined;
}

/**
 * While exactly one question waits in the conversation, a message answers it, unless the person wants it to be a new
 * one (D-723).
 */
export function useAnswering(stores: readonly RunStore[]): Answering {
  const mayAnswer = useRight('interactions:write');
  const found = oneOpenQuestion(stores.map((store) => store.view.value));
  const [instead, setInstead] = useState<string | undefined>(undefined);
  if (found === undefined || !mayAnswer) return { asked: undefined, notice: undefined };
  const isInstead = instead === found.key;
  return {
    asked: isInstead ? undefined : found,
    notice: (
      <p class="answering small muted" role="status">
        <span>
          {isInstead
            ? 'Starts a new run after this one. The question stays open.'
            : 'Your message answers the open question.'}
        </span>
        <Button
          size="small"
          kind="quiet"
          onClick={() => setInstead(isInstead ? undefined : found.key)}
        >
          {isInstead ? 'Answer the question' : 'New message instead'}
        </Button>
      </p>
    ),
  };
}
