import { type Answer, ConflictError, type SessionHandle } from '@convoke/sdk';
import { patiently } from './patience.ts';

/** Passes an answer on. One that comes after another is dropped: the run continues with the first. */
export async function answerOnce(
  { interactions }: SessionHandle,
  key: string,
  answer: Answer,
): Promise<void> {
  try {
    await patiently(() => interactions.answer(key, answer));
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
  }
}
