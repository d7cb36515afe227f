import type { InteractionRecord } from '@convoke/sdk';
import type { JSX } from 'preact';
import { Markdown } from '../../parts/markdown.tsx';
import { useResource, useTenant } from '../../session/use.ts';

/** How many events of the run are read to find the last message before the request. */
const maxEvents = 1000;
const maxShown = 1500;

/** The agent's last message before the request, which usually has its reason. */
export function LastMessage({
  record,
}: {
  readonly record: InteractionRecord;
}): JSX.Element | null {
  const { client, tenantId } = useTenant();
  const said = useResource(`${tenantId}/said/${record.interaction_key}`, async (signal) => {
    const run = client.sessions.at(record.session_id).runs.at(record.run_id);
    let text = '';
    let count = 0;
    for await (const event of run.events({ limit: 100, signal })) {
      if (event.type === 'message_delta') text += event.data.text;
      else if (isAsk(event.data, record.interaction_key)) return text;
      else if (event.type.endsWith('_resolved') || event.type === 'user_answered') text = '';
      if ((count += 1) >= maxEvents) return '';
    }
    return text;
  });
  const text = (said.data.value ?? '').trim();
  if (text === '') return null;
  return (
    <blockquote class="last-message">
      <Markdown text={text.length > maxShown ? `… ${text.slice(-maxShown)}` : text} />
    </blockquote>
  );
}

function isAsk(data: object, key: string): boolean {
  return 'interaction_key' in data && data.interaction_key === key;
}
