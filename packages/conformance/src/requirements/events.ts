import { type Requirement, afterRestart, invisible, must } from './requirement.ts';

const unshown = 'its payload is not shown, and no agent of the kit has to load context';

/** Section 6: run events. */
export const eventRequirements: readonly Requirement[] = [
  must('6-envelope', 'An event has id, type, session_id, run_id, created_at and data.'),
  must('6-owner', 'session_id and run_id of an event are those of its run.'),
  must('6-frame', 'The event line repeats the type, and the id line the id.'),

  must('6-run_started', 'run_started carries run_id.'),
  must('6-run_completed', 'run_completed carries run_id.'),
  must('6-run_cancelled', 'run_cancelled carries run_id.'),
  must('6-error', 'error carries a message.'),
  must('6-message_delta', 'message_delta carries text, framework and model.'),
  must('6-deltas', 'The texts of message_delta in id order are the answer of the agent.'),
  must('6-permission_request', 'permission_request has request_id, key, tool_name, tool_input.'),
  must('6-permission_resolved', 'permission_resolved carries interaction_key and the decision.'),
  must('6-user_question', 'user_question carries request_id, interaction_key and the question.'),
  must('6-user_answered', 'user_answered carries interaction_key and the answer.'),
  invisible('6-context', 'Context events say that a context file was loaded or changed.', unshown),
  invisible('6-skills', 'agent_skills_loaded names the skills that were mirrored.', unshown),

  must('6-r1', 'Ids are different for every event of a run, and their order never changes.'),
  must('6-r2', 'Replay starts strictly after Last-Event-ID, whichever event that is.'),
  must('6-r2-same', 'Every reader of a run gets the same frames.'),
  must('6-r3', 'A reader with every event so far of a run that continues gets the next ones.'),
  must('6-r3-drop', 'A dropped connection does not end the run.'),
  must('6-r4', 'Only run_completed, run_cancelled and error are terminal, once and last.'),
  must('6-r5', 'Events of a harness have the same envelope.'),
  must('6-r6-key', 'An interaction is answered by interaction_key, never by request_id.'),
  must('6-r6-record', 'The listed record has the interaction_key of the event.'),
  must('6-exact-input', 'The record of a permission shows the input of its event.'),
  afterRestart('6-history', 'The history of a run is replayed after a restart, byte for byte.'),
  afterRestart('6-cursor', 'Last-Event-ID of before a restart resumes strictly after it.'),
  afterRestart('6-r6-replayed', 'An interaction is announced again only with replayed: true.'),
];
