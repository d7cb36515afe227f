import { type EventNames, type NoticeType, formatNoticeId } from '@convoke/contract';
import type { NoticeBatch } from '../../app/feed/feed.ts';
import { Frames } from './frames.ts';

type RenderedBatch = Pick<NoticeBatch, 'notices' | 'lastSeq'>;

/** The filter of a reader of the feed. */
export interface NoticeForm {
  /** All when undefined. */
  readonly types: readonly NoticeType[] | undefined;
  /** Whether frames have an `event:` line. */
  readonly names: EventNames;
}

/** Readers of one tail share a batch, so each form is rendered once. */
const rendered = new WeakMap<RenderedBatch, Map<string, Frames>>();

/**
 * Renders notices as frames of the `text/event-stream` format. If the last ones are left out, a comment with their id
 * moves the cursor of the reader past them.
 */
export function renderNotices(batch: RenderedBatch, form: NoticeForm): Frames {
  const known = rendered.get(batch) ?? new Map<string, Frames>();
  rendered.set(batch, known);
  const key = `${form.names} ${form.types?.toSorted().join() ?? '*'}`;
  const made = known.get(key) ?? framesOf(batch, form);
  known.set(key, made);
  return made;
}

function framesOf({ notices, lastSeq }: RenderedBatch, { types, names }: NoticeForm): Frames {
  let text = '';
  let sent: number | undefined;
  for (const { seq, type, body } of notices) {
    if (types !== undefined && !types.includes(type)) continue;
    const name = names === 'on' ? `event: ${type}\n` : '';
    text += `id: ${formatNoticeId(seq)}\n${name}data: ${body}\n\n`;
    sent = seq;
  }
  if (sent !== lastSeq) text += `id: ${formatNoticeId(lastSeq)}\n: nothing else up to here\n\n`;
  return new Frames(text);
}
