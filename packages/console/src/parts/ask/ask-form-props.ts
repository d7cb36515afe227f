import type { Answer } from '@convoke/sdk';
import type { ComponentChildren, Ref } from 'preact';
import type { Ask } from '../../data/ask.ts';

export interface AskFormHandle {
  /** Acts on a key of the card; returns whether it meant something. */
  press(key: string): boolean;
}

export interface AskFormProps {
  readonly ask: Ask;
  readonly isReady: boolean;
  /** Until it is, a person can only refuse. */
  readonly isWholeShown: boolean;
  readonly onAnswer: (answer: Answer) => void;
  /** The content of the decision. It scrolls above the buttons, which always stay in view. */
  readonly children: ComponentChildren;
  readonly handle: Ref<AskFormHandle>;
}
