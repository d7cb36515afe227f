import type { Convoke, DeliveryStatus, WebhookRecord, WebhookType } from '@convoke/sdk';
import { Command } from 'commander';
import { collect } from '../../collect.ts';
import { completeId } from '../../complete-id.ts';
import { globalOptions } from '../../options/global-options.ts';
import { example, limitOption, readLabels } from '../../options/options.ts';
import { connect } from '../../sign-in/connection.ts';
import { forOutput, print, printJson } from '../../terminal/output.ts';
import { labelsText, printFacts, printTable } from '../../terminal/table.ts';
import { age, moment } from '../../terminal/times.ts';
import { printResult, recordCommands } from '../record-command.ts';
import { listenWebhooks } from './webhooks-listen.ts';

export function webhooksCommand(): Command {
  return new Command('webhooks')
    .description('Send signed notices about the tenant to a URL')
    .addCommand(listWebhooks(), { isDefault: true })
    .addCommand(createWebhook())
    .addCommand(showWebhook())
    .addCommand(updateWebhook())
    .addCommand(rotateWebhook())
    .addCommand(testWebhook())
    .addCommand(listDeliveries())
    .addCommand(showDelivery())
    .addCommand(redeliver())
    .addCommand(replayWebhook())
    .addCommand(deleteWebhook())
    .addCommand(listenWebhooks())
    .addHelpText('after', example('webhooks create https://example.com/convoke'));
}

function listWebhooks(): Command {
  return new Command('list')
    .description('List webhooks, newest first')
    .addHelpText('after', example('webhooks list'))
    .addOption(limitOption())
    .action(async ({ limit }: { limit: number }, command: Command) => {
      const webhooks = await collect((await connect(command)).webhooks.list(), limit);
      if (globalOptions(command).json) return printJson({ webhooks });
      printTable(
        ['WEBHOOK', 'STATUS', 'TYPES', 'LAST SUCCESS', 'URL'],
        webhooks.map((webhook) => [
          webhook.id,
          webhook.failing_since === undefined ? webhook.status : `${webhook.status}, failing`,
          webhook.types.join(' '),
          webhook.last_success_at === undefined ? '' : age(webhook.last_success_at),
          webhook.url,
        ]),
      );
    });
}

interface Fields {
  readonly type?: WebhookType[];
  readonly agent?: string[];
  readonly description?: string;
  readonly label?: Readonly<Record<string, string>>;
}

const labelText = 'only notices about runs and sessions with this label; may be repeated';

function createWebhook(): Command {
  return new Command('create')
    .description('Create a webhook and show its secret once')
    .addHelpText('after', example('webhooks create https://example.com/convoke --type run_failed'))
    .argument('<url>')
    .option('--type <type...>', 'notice types (default: all)')
    .option('--agent <name...>', 'only notices about these agents')
    .option('--label <key:value>', labelText, readLabels)
    .option('--description <text>', 'what the webhook is for')
    .action(async (url: string, options: Fields, command: Command) => {
      const { type, agent, label, description } = options;
      const convoke = await connect(command);
      const fields = { url, types: type, agent_names: agent, labels: label, description };
      const issued = await convoke.webhooks.create(fields);
      if (globalOptions(command).json) return printJson(issued);
      print(`webhook  ${issued.webhook.id}`);
      print(`secret   ${issued.secret}`);
    });
}

const webhookCommand = recordCommands({
  group: 'webhooks',
  argument: ['<webhook>', 'id or unique prefix'],
  sample: 'wh_…',
  connect,
  find: idOf,
});

const showWebhook = webhookCommand({
  name: 'show',
  about: 'Show one webhook',
  call: (convoke, id) => convoke.webhooks.get(id),
  print(webhook) {
    const { status, status_reason: reason } = webhook;
    printFacts({
      webhook: webhook.id,
      url: webhook.url,
      description: webhook.description,
      types: webhook.types.join(' '),
      agents: webhook.agent_names?.join(' ') ?? 'all',
      labels: labelsText(webhook.labels),
      status: reason === undefined ? status : `${status}: ${reason}`,
      secret: `…${webhook.secret_hint}`,
      'last success': webhook.last_success_at && moment(webhook.last_success_at),
      'failing since': webhook.failing_since && moment(webhook.failing_since),
      created: `${moment(webhook.created_at)} by ${webhook.created_by_name ?? webhook.created_by}`,
    });
  },
});

function updateWebhook(): Command {
  return new Command('update')
    .description('Change a webhook, disable it, or enable it again')
    .addHelpText('after', example('webhooks update wh_… --enable'))
    .argument('<webhook>', 'id or unique prefix')
    .option('--url <url>', 'new URL')
    .option('--type <type...>', 'new notice types')
    .option('--agent <name...>', 'new list of agents')
    .option('--label <key:value>', `${labelText}; replaces the current labels`, readLabels)
    .option('--description <text>', 'new description')
    .option('--enable', 'resume deliveries')
    .option('--disable', 'stop deliveries')
    .action(
      async (
        typed: string,
        options: Fields & { url?: string; enable?: boolean; disable?: boolean },
        command: Command,
      ) => {
        const { url, type, agent, label, description, enable, disable } = options;
        const convoke = await connect(command);
        const { id, version } = await convoke.webhooks.get(await idOf(convoke, typed));
        const status = statusOf(enable, disable);
        const fields = { url, types: type, agent_names: agent, labels: label, description, status };
        await printResult(
          command,
          await convoke.webhooks.update(id, { version, ...fields }),
          printLine,
        );
      },
    );
}

const rotateWebhook = webhookCommand({
  name: 'rotate',
  about: 'Issue a new secret; the old one also signs for 24 hours',
  call: (convoke, id) => convoke.webhooks.rotate(id),
  print: (issued) => print(issued.secret),
});

const testWebhook = webhookCommand({
  name: 'test',
  about: 'Send a test event',
  call: (convoke, id) => convoke.webhooks.test(id),
  print: (delivery) =>
    print(`${delivery.id}  see \`convoke webhooks deliveries ${delivery.webhook_id}\``),
});

function listDeliveries(): Command {
  return new Command('deliveries')
    .description('List the deliveries of a webhook, newest first')
    .addHelpText('after', example('webhooks deliveries wh_… --status failed'))
    .argument('<webhook>', 'id or unique prefix')
    .option('--status <status>', 'only deliveries with this status')
    .addOption(limitOption())
    .action(
      async (
        typed: string,
        { status, limit }: { status?: DeliveryStatus; limit: number },
        command: Command,
      ) => {
        const convoke = await connect(command);
        const id = await idOf(convoke, typed);
        const deliveries = await collect(convoke.webhooks.deliveries(id, { status }), limit);
        if (globalOptions(command).json) return printJson({ deliveries });
        printTable(
          ['DELIVERY', 'TYPE', 'STATUS', 'ATTEMPTS', 'RESPONSE', 'AGE'],
          deliveries.map((delivery) => [
            delivery.id,
            delivery.type,
            delivery.status,
            String(delivery.tries),
            String(delivery.response_status ?? delivery.error ?? ''),
            age(delivery.created_at),
          ]),
        );
      },
    );
}

function showDelivery(): Command {
  return new Command('delivery')
    .description('Show one delivery: the request body and the response')
    .addHelpText('after', example('webhooks delivery wh_… whd_…'))
    .argument('<webhook>', 'id or unique prefix')
    .argument('<delivery>', 'id or unique prefix')
    .action(async (typed: string, ofDelivery: string, _options: unknown, command: Command) => {
      const { webhooks } = await connect(command);
      const id = await completeId(typed, webhooks.list({ limit: 100 }));
      const whole = await completeId(ofDelivery, webhooks.deliveries(id, { limit: 100 }));
      const delivery = await webhooks.delivery(id, whole);
      if (globalOptions(command).json) return printJson(delivery);
      const { response_status: status, error, next_try_at: next } = delivery;
      printFacts({
        delivery: delivery.id,
        type: delivery.type,
        status: delivery.status,
        attempts: String(delivery.tries),
        'next attempt': next && moment(next),
        'webhook-id': delivery.message_id,
        created: moment(delivery.created_at),
        response: String(status ?? error ?? 'none yet'),
      });
      print(`\nrequest body\n${forOutput(delivery.request_body ?? '(no longer kept)')}`);
      if (delivery.response_excerpt === undefined) return;
      print(`\nresponse body\n${forOutput(delivery.response_excerpt)}`);
    });
}

function redeliver(): Command {
  return new Command('redeliver')
    .description('Resend a delivery')
    .addHelpText('after', example('webhooks redeliver wh_… whd_…'))
    .argument('<webhook>', 'id or unique prefix')
    .argument('<delivery>')
    .action(async (typed: string, delivery: string, _options: unknown, command: Command) => {
      const convoke = await connect(command);
      const sent = await convoke.webhooks.redeliver(await idOf(convoke, typed), delivery);
      if (globalOptions(command).json) return printJson(sent);
      print(`${sent.id}  ${sent.status}`);
    });
}

function replayWebhook(): Command {
  return new Command('replay')
    .description('Resend all notices after an id')
    .addHelpText('after', example('webhooks replay wh_… --after 0000000000000042'))
    .argument('<webhook>', 'id or unique prefix')
    .requiredOption('--after <id>', 'notice id; 0000000000000000 for the oldest')
    .action(async (typed: string, { after }: { after: string }, command: Command) => {
      const convoke = await connect(command);
      const id = await idOf(convoke, typed);
      let page = await convoke.webhooks.replay(id, { afterId: after });
      let { deliveries } = page;
      while (page.has_more) {
        page = await convoke.webhooks.replay(id, { afterId: page.last_id });
        deliveries += page.deliveries;
      }
      if (globalOptions(command).json) return printJson({ deliveries, last_id: page.last_id });
      print(`${deliveries} deliveries, up to notice ${page.last_id}`);
    });
}

const deleteWebhook = webhookCommand({
  name: 'delete',
  about: 'Delete a webhook and its pending deliveries',
  call: async (convoke, id) => {
    await convoke.webhooks.delete(id);
    return { id, deleted: true };
  },
  print: ({ id }) => print(`${id}  deleted`),
});

function statusOf(enable = false, disable = false): WebhookRecord['status'] | undefined {
  if (enable) return 'active';
  return disable ? 'disabled' : undefined;
}

function idOf(convoke: Convoke, typed: string): Promise<string> {
  return completeId(typed, convoke.webhooks.list({ limit: 100 }));
}

function printLine(webhook: WebhookRecord): void {
  print(forOutput(`${webhook.id}  ${webhook.status}  ${webhook.url}`));
}
