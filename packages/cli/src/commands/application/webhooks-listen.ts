import { createHmac, randomBytes } from 'node:crypto';
import type { NoticeRecord, NoticeType } from '@convoke/sdk';
import { Command, InvalidArgumentError } from 'commander';
import { globalOptions } from '../../options/global-options.ts';
import { example, repeated } from '../../options/options.ts';
import { connect } from '../../sign-in/connection.ts';
import { noticeLine } from '../../terminal/notice-line.ts';
import { forOutput, print } from '../../terminal/output.ts';

/** As long as the service waits for a receiver. */
const answerMs = 15_000;
const secretBytes = 32;

interface ListenOptions {
  readonly forwardTo: URL;
  readonly type?: readonly string[];
}

/**
 * Sends notices to a receiver that the server cannot reach, such as one on a laptop: this command follows the feed, and
 * makes the requests that a webhook would make.
 */
export function listenWebhooks(): Command {
  return new Command('listen')
    .description('Forward notices to a local receiver, signed like webhook deliveries')
    .requiredOption('--forward-to <url>', 'URL of the receiver', readUrl)
    .option('--type <type>', 'only notices of this type; may be repeated', repeated)
    .addHelpText('after', example('webhooks listen --forward-to http://127.0.0.1:3000/hook'))
    .addHelpText(
      'after',
      '\nForwards new notices one at a time and prints each response. Unlike a webhook, it does not retry.\n',
    )
    .action(async (options: ListenOptions, command: Command) => {
      const { feed } = await connect(command);
      const { json = false } = globalOptions(command);
      const secret = randomBytes(secretBytes).toString('base64');
      const issued = { secret: `whsec_${secret}`, forward_to: options.forwardTo.href };
      print(json ? JSON.stringify(issued) : `secret   ${issued.secret}`);
      const types = options.type as readonly NoticeType[] | undefined;
      for await (const notice of feed.follow({ types, from: 'newest' })) {
        const result = await forward(notice, options.forwardTo, secret);
        const { id, type } = notice;
        if (json) print(JSON.stringify({ id, type, ...result }));
        else print(forOutput(`${noticeLine(notice)}  ${result.status ?? result.error}`));
      }
    });
}

interface ForwardResult {
  readonly status?: number;
  readonly error?: string;
}

async function forward(notice: NoticeRecord, url: URL, secret: string): Promise<ForwardResult> {
  const id = `listen_${notice.id}`;
  const body = JSON.stringify(notice);
  const timestamp = Math.floor(Date.now() / 1000);
  const mac = createHmac('sha256', Buffer.from(secret, 'base64'));
  const signature = mac.update(`${id}.${timestamp}.${body}`).digest('base64');
  try {
    const answer = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'Convoke',
        'webhook-id': id,
        'webhook-timestamp': String(timestamp),
        'webhook-signature': `v1,${signature}`,
      },
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(answerMs),
    });
    await answer.body?.cancel();
    return { status: answer.status };
  } catch (error) {
    return { error: reasonOf(error) };
  }
}

/** `fetch` names the reason in the cause: ECONNREFUSED rather than "fetch failed". */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return `no response within ${answerMs / 1000} s`;
  const { code } = (error.cause ?? {}) as NodeJS.ErrnoException;
  return code ?? error.message;
}

function readUrl(text: string): URL {
  const url = URL.parse(text);
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  throw new InvalidArgumentError('must be an http or https URL');
}
