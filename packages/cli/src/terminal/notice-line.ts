import type { NoticeRecord } from '@convoke/sdk';
import { oneLine } from './output.ts';

const typeWidth = 20;

/** Renders a notice for people, in one line. */
export function noticeLine({
  id,
  type,
  created_at,
  session_id,
  run_id,
  data,
}: NoticeRecord): string {
  const number = id.replace(/^0+(?=\d)/, '').padStart(6);
  const time = created_at.replace(/^.*T/, '').replace(/\.\d+Z$/, '');
  const about = run_id ?? session_id ?? data.schedule_id ?? data.webhook_id ?? data.budget_id;
  const details = [
    data.agent_name,
    data.interaction_key === undefined ? undefined : `${data.kind} ${data.interaction_key}`,
    data.error_code,
    data.feedback_key === undefined ? undefined : `${data.feedback_key} ${data.score ?? ''}`.trim(),
    data.reason,
    data.percent === undefined ? undefined : `${data.percent} %`,
  ];
  const shown = details.filter((detail) => detail !== undefined).map(oneLine);
  return [number, time, type.padEnd(typeWidth), about, ...shown].join('  ');
}
