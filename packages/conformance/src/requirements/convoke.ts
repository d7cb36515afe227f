import { type Requirement, afterRestart, must } from './requirement.ts';

/**
 * What Convoke decided where the specification is silent, by the numbers of docs/decisions. `--level convoke` adds it.
 */
export const convokeRequirements: readonly Requirement[] = [
  must('convoke-last-event-id', 'An id that no event of the run has is no cursor: 400 (D-32).'),
  must('convoke-nothing-after', 'After the terminal event a reader gets 204 (D-249).'),
  must('convoke-history', 'Accept: application/json returns the events as pages (D-34).'),
  must('convoke-unnamed', 'Frames without names carry the same data as named ones.'),
  must('convoke-one-shot-key', 'A repeated key of a one-shot streams the same run again (D-27).'),
  must('convoke-same-answer', 'The same answer again succeeds, another one is a conflict (D-38).'),
  must('convoke-labels', 'A label finds the runs of its own tenant only (D-252).'),
  must('convoke-secret-account', 'No answer has the secret of a connected account (D-593).'),
  must('convoke-own-account', 'A connected account exists in its own tenant only (D-590).'),
  must('convoke-enabled', 'Enabling a client does not make tokens of before good again.'),
  must('convoke-revoked-stream', 'A stream ends when its credential is revoked (D-33).'),
  afterRestart('convoke-words', 'A run that continues loses no word and repeats none (D-87).'),
];
