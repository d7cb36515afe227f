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
  /** What is decided on. Its end stays above the buttons, which are in view however long it is. */
  readonly children: ComponentChildren;
  readonly handle: Ref<AskFormHandle>;
}
