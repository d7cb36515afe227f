import type { WebhookDelivery, WebhookDeliveryDetail } from '@convoke/sdk';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { deliveredName } from '../data/events/event-names.ts';
import { plural } from '../data/formats.ts';
import { inBackground } from '../data/in-background.ts';
import { Button } from '../parts/button.tsx';
import { CodeBlock } from '../parts/copy.tsx';
import { Dialog, useAction } from '../parts/dialog.tsx';
import { ProblemNote } from '../parts/problem.tsx';
import { Status } from '../parts/status.tsx';
import { Time } from '../parts/time.tsx';
import { useTenant } from '../session/use.ts';

/** One delivery with the body that was sent and the last response (D-310). */
export function DeliveryDialog(props: {
  readonly delivery: WebhookDelivery;
  readonly onClose: () => void;
}): JSX.Element {
  const { delivery, onClose } = props;
  const { client } = useTenant();
  const [detail, setDetail] = useState<WebhookDeliveryDetail>();
  const { error, run } = useAction(async () => {
    setDetail(await client.webhooks.delivery(delivery.webhook_id, delivery.id));
  });
  useEffect(() => inBackground(run()), [delivery.id]);
  const { status, tries, created_at: at } = detail ?? delivery;
  return (
    <Dialog title={`Delivery: ${deliveredName(delivery.type)}`} onClose={onClose}>
      <div class="stack tight">
        <p class="summary-line">
          <Status of={status} />
          <span>{plural(tries, 'attempt')}</span>
          <Time at={at} />
        </p>
        {error !== undefined && <ProblemNote error={error} />}
        {detail !== undefined && <Exchange delivery={detail} />}
      </div>
      <div class="buttons end">
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  );
}

function Exchange({ delivery }: { readonly delivery: WebhookDeliveryDetail }): JSX.Element {
  const { request_body: body, response_status: status, response_excerpt: text, error } = delivery;
  return (
    <>
      <strong>Request</strong>
      {body === undefined ? (
        <p class="muted">The body is no longer available.</p>
      ) : (
        <CodeBlock text={indented(body)} label="request body" />
      )}
      <strong>Response</strong>
      <p>{String(status ?? error ?? 'None yet')}</p>
      {text !== undefined && text !== '' && <CodeBlock text={text} label="response body" />}
    </>
  );
}

/** The server wrote the JSON in one line. */
function indented(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}
