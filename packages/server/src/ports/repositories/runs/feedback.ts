import type { RunId, SessionId } from '@convoke/contract';
import type { Feedback, FeedbackAuthor, Opinion } from '../../../domain/run/feedback.ts';
import type { TenantScope } from '../../../domain/scope.ts';

export interface FeedbackRepository {
  /**
   * Writes the author's feedback, unless it is unchanged. Undefined when the run is gone, or has as much
   * feedback as it may have and none of this author under this key. It locks no run that a leg could be waiting for.
   */
  put(scope: TenantScope, given: GivenFeedback): Promise<StoredFeedback | undefined>;
  /** Deletes the author's feedback under the key; false if there is none. */
  remove(scope: TenantScope, at: FeedbackPlace): Promise<boolean>;
  /** Feedback on a run in the order of keys and authors, of all authors or of one. */
  list(
    scope: TenantScope,
    of: { readonly runId: RunId; readonly author: FeedbackAuthor | undefined },
    limit: number,
  ): Promise<Feedback[]>;
}

export interface FeedbackPlace {
  readonly sessionId: SessionId;
  readonly runId: RunId;
  readonly key: string;
  readonly author: FeedbackAuthor;
}

export interface GivenFeedback extends FeedbackPlace {
  readonly opinion: Opinion;
  readonly now: number;
  /** How much feedback a run may have. */
  readonly most: number;
}

export interface StoredFeedback {
  readonly feedback: Feedback;
  readonly change: 'created' | 'replaced' | 'none';
}
