import type { FeedbackRecord, RunRecord } from '@convoke/sdk';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ratingKey } from '../../data/run-rows.ts';
import { TextArea } from '../../parts/field.tsx';
import { Button } from '../../parts/button.tsx';
import { FormDialog, useAction } from '../../parts/dialog.tsx';
import { Icon } from '../../parts/icon.tsx';
import { ProblemNote } from '../../parts/problem.tsx';
import { Time } from '../../parts/time.tsx';
import { actorName, isYou } from '../../session/actors.ts';
import { listFeedback } from '../../session/api.ts';
import { useRefreshOnNotice } from '../../session/live.ts';
import { useResource, useRight, useTenant } from '../../session/use.ts';

/** Two thumbs and a comment of the person, and what everyone says about the run. */
export function RunFeedback({ run }: { readonly run: RunRecord }): JSX.Element {
  const tenant = useTenant();
  const given = useResource(`${tenant.tenantId}/run/${run.id}/feedback`, () =>
    listFeedback(tenant, run),
  );
  useRefreshOnNotice(
    ({ type, run_id }) => type === 'run_feedback' && run_id === run.id,
    () => given.refresh(),
  );
  const all = given.data.value ?? [];
  const own = all.find((entry) => entry.key === ratingKey && isOwn(entry));
  const { feedback } = tenant.client.sessions.at(run.session_id).runs.at(run.id);
  const say = useAction(async ({ score, value, comment }: FeedbackFields) => {
    const isSaid = score !== undefined || value !== undefined || comment !== undefined;
    if (isSaid) await feedback.put(ratingKey, { score, value, comment });
    else if (own !== undefined) await feedback.delete(ratingKey);
    await given.refresh();
  });
  return (
    <div class="run-feedback" role="group" aria-label="Feedback">
      <Thumbs own={own} isBusy={say.isBusy} onSay={(said) => say.run(said)} />
      {say.error !== undefined && <ProblemNote error={say.error} />}
      <AllFeedback feedback={all} />
    </div>
  );
}

type FeedbackFields = Pick<FeedbackRecord, 'score' | 'value' | 'comment'>;

function isOwn({ author: { kind, id } }: FeedbackRecord): boolean {
  return kind === 'person' && isYou({ kind, id });
}

function Thumbs(props: {
  readonly own: FeedbackRecord | undefined;
  readonly isBusy: boolean;
  readonly onSay: (said: FeedbackFields) => Promise<void>;
}): JSX.Element {
  const { own, isBusy, onSay } = props;
  const mayWrite = useRight('feedback:write');
  const [isCommenting, setCommenting] = useState(false);
  const { score, value, comment } = own ?? {};
  const thumb = (name: 'ThumbsUp' | 'ThumbsDown', label: string, wanted: number) => (
    <Button
      kind="quiet"
      size="icon"
      ariaLabel={label}
      title={label}
      pressed={score === wanted}
      isAllowed={mayWrite}
      disabled={isBusy}
      onClick={() => onSay({ score: score === wanted ? undefined : wanted, value, comment })}
    >
      <Icon name={name} />
    </Button>
  );
  return (
    <span class="thumbs">
      {thumb('ThumbsUp', 'Good answer', 1)}
      {thumb('ThumbsDown', 'Bad answer', -1)}
      <Button
        kind="quiet"
        size="small"
        isAllowed={mayWrite}
        disabled={isBusy}
        onClick={() => setCommenting(true)}
      >
        {comment === undefined ? 'Comment' : 'Edit comment'}
      </Button>
      {isCommenting && (
        <CommentDialog
          first={comment ?? ''}
          onSubmit={(text) => onSay({ score, value, comment: text === '' ? undefined : text })}
          onClose={() => setCommenting(false)}
        />
      )}
    </span>
  );
}

function CommentDialog(props: {
  readonly first: string;
  readonly onSubmit: (text: string) => Promise<void>;
  readonly onClose: () => void;
}): JSX.Element {
  const [text, setText] = useState(props.first);
  return (
    <FormDialog
      title="Comment on this run"
      action="Save"
      isReady={text.trim() !== props.first}
      onSubmit={() => props.onSubmit(text.trim())}
      onClose={props.onClose}
    >
      <TextArea label="Comment" value={text} onInput={setText} autofocus />
    </FormDialog>
  );
}

function AllFeedback({
  feedback,
}: {
  readonly feedback: readonly FeedbackRecord[];
}): JSX.Element | null {
  const shown = feedback.filter((entry) => !isOwn(entry) || entry.comment !== undefined);
  if (shown.length === 0) return null;
  return (
    <ul class="opinions">
      {shown.map((entry) => (
        <li key={`${entry.key} ${entry.author.kind} ${entry.author.id}`}>
          <Opinion of={entry} />
          {entry.value !== undefined && <span>{entry.value}</span>}
          {entry.comment !== undefined && <span class="comment">{entry.comment}</span>}
          <span class="muted small">
            {`${authorName(entry)}, `}
            <Time at={entry.updated_at} />
          </span>
        </li>
      ))}
    </ul>
  );
}

/** Thumbs for the key that has them here, else the key and its score. */
function Opinion({ of: { key, score } }: { readonly of: FeedbackRecord }): JSX.Element {
  if (key === ratingKey && (score === 1 || score === -1)) {
    return (
      <span class="opinion">
        <Icon name={score === 1 ? 'ThumbsUp' : 'ThumbsDown'} />
        <span class="hidden-text">{score === 1 ? 'Rated up' : 'Rated down'}</span>
      </span>
    );
  }
  return <code class="opinion">{score === undefined ? key : `${key} ${score}`}</code>;
}

function authorName({ author: { kind, id, name } }: FeedbackRecord): string {
  return kind === 'end_user' ? `user ${id}` : actorName({ kind, id, name });
}
