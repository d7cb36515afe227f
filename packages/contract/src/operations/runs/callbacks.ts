import { jsonValue } from '../../json.ts';
import { limits } from '../../limits.ts';
import { defineOperation } from '../../operation.ts';
import { callbackToken, receivedCallback } from '../../resources/runs/callback.ts';
import { replayedHeader } from '../idempotency.ts';

export const receiveCallback = defineOperation({
  id: 'receive_callback',
  method: 'POST',
  path: '/v1/callbacks/{callback_token}',
  tag: 'Interactions',
  summary: 'Send the message of a callback URL',
  description:
    'The agent of a run makes the URL and passes it on. A caller who has it can send the run one message, without a login: the body is its data. ' +
    'The same body again changes nothing. A URL that is wrong, and one of a run that has ended, are 404.',
  caller: 'anonymous',
  scope: { unscoped: 'The URL is the proof.' },
  params: { callback_token: callbackToken },
  body: jsonValue.meta({ description: 'Any JSON value; null if absent.' }),
  bodyRequired: false,
  absentBody: null,
  maxBytes: limits.signalBodyMaxBytes,
  networkRate: { perMinute: limits.callbackRatePerMinute, burst: limits.callbackRateBurst },
  responses: {
    202: { description: 'The message is stored.', schema: receivedCallback },
    200: {
      description: 'An earlier request with this body has sent it.',
      schema: receivedCallback,
      headers: replayedHeader,
    },
  },
  errors: [
    'not_found',
    'idempotency_conflict',
    'signal_limit_reached',
    'rate_limited',
    'storage_unavailable',
  ],
});
