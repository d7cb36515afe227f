import type { NoticeRecord, NoticeType } from '@convoke/sdk';
import { Command } from 'commander';
import { globalOptions } from '../../options/global-options.ts';
import { example, repeated } from '../../options/options.ts';
import { connect } from '../../sign-in/connection.ts';
import { noticeLine } from '../../terminal/notice-line.ts';
import { forOutput, jsonText, print, remark } from '../../terminal/output.ts';

/** Ids of notices are numbers with leading zeros, which people need not type. */
const idDigits = 16;

export function watchCommand(): Command {
  return new Command('watch')
    .description('Show activity in the tenant as it happens')
    .option('--after <id>', 'only notices after this id; 0 starts with the oldest')
    .option(
      '--type <type>',
      'only notices of this type, such as run_failed; may be repeated',
      repeated,
    )
    .option('--no-follow', 'print what exists and exit')
    .addHelpText('after', example('watch --type run_waiting --type run_failed'))
    .addHelpText('after', '\nWith --json prints every notice as it was recorded, one per line.\n')
    .action(async (options: WatchOptions, command: Command) => {
      const convoke = await connect(command);
      const { json = false } = globalOptions(command);
      if (options.follow && process.stderr.isTTY) remark('watching (press Ctrl-C to exit)', 'dim');
      for await (const notice of noticesOf(convoke, options)) {
        print(json ? jsonText(notice) : forOutput(noticeLine(notice)));
      }
    });
}

type Client = Awaited<ReturnType<typeof connect>>;

/** `--after 0` is the oldest notice that is kept, whatever its number. */
function noticesOf({ feed }: Client, options: WatchOptions): AsyncIterable<NoticeRecord> {
  const types = options.type as readonly NoticeType[] | undefined;
  const isFromOldest = options.after !== undefined && /^0+$/.test(options.after);
  const after = isFromOldest ? undefined : options.after?.padStart(idDigits, '0');
  if (!options.follow) return laterThan(feed.list({ types }), after);
  return feed.follow({ types, after, from: isFromOldest ? 'oldest' : 'newest' });
}

async function* laterThan(
  notices: AsyncIterable<NoticeRecord>,
  after: string | undefined,
): AsyncGenerator<NoticeRecord> {
  for await (const notice of notices) if (after === undefined || notice.id > after) yield notice;
}

interface WatchOptions {
  readonly after?: string;
  readonly type?: readonly string[];
  readonly follow: boolean;
}
