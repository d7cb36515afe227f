import { auditSentence } from '@convoke/sdk';
import type { AuditRow } from '@convoke/server';
import { Command } from 'commander';
import { operating, report } from '../../operating.ts';
import { count } from '../../options/durations.ts';
import { example } from '../../options/options.ts';

const defaultLimit = 50;

export function auditCommand(): Command {
  return new Command('audit')
    .description('Read the audit log and verify its integrity')
    .addCommand(listCommand())
    .addCommand(verifyCommand())
    .addCommand(sealCommand())
    .addHelpText('after', example('audit verify'));
}

interface ListOptions {
  readonly org?: string;
  readonly limit: number;
}

function listCommand(): Command {
  return new Command('list')
    .description('Show the newest rows, newest first')
    .addHelpText('after', example('audit list --limit 20 --json'))
    .option('--org <id>', 'only this organization; "deployment" for rows without one')
    .option('--limit <n>', 'maximum number of rows', count, defaultLimit)
    .addHelpText('after', '\nWith --json prints {"rows": […]}.\n')
    .action(async ({ org, limit }: ListOptions, command: Command) => {
      const { rows, names } = await operating(async (operator) => {
        const found = await operator.listAudit(limit, org);
        return { rows: found, names: await operator.namesOf(found.flatMap(idsIn)) };
      });
      const lines = rows.map((row) => line(row, (id) => names.get(id)));
      report(command, { rows: rows.map(record) }, lines.join('\n') || 'No rows yet.');
    });
}

function verifyCommand(): Command {
  return new Command('verify')
    .description('Verify every hash chain: detects changed, removed and moved rows')
    .addHelpText('after', example('audit verify'))
    .addHelpText('after', '\nWith --json prints {"ok", "chains": […]}.\n')
    .action(async (_options: unknown, command: Command) => {
      const chains = await operating((operator) => verifyChains(operator.verifyAudit()));
      const ok = chains.every(({ problem }) => problem === undefined);
      const lines = chains.map(({ organization_id, rows, head, problem }) =>
        problem === undefined
          ? `${organization_id}: ${rows} rows, intact; last hash ${head}`
          : `${organization_id}: row ${problem.seq} ${problem.reason}`,
      );
      report(command, { ok, chains }, lines.join('\n') || 'No rows yet.');
      if (!ok) process.exitCode = 1;
    });
}

function sealCommand(): Command {
  return new Command('seal')
    .description('Re-seal unsealed audit chains (inspect them first)')
    .addHelpText('after', example('audit seal'))
    .addHelpText(
      'after',
      `
The end of each chain has a seal, made with the master key, so that the database alone cannot cut rows off.
Run this once after an upgrade from a version without seals, or when servers of such a version have
written to the log. Each chain gets a row that says so. With --json prints {"sealed": […]}.
`,
    )
    .action(async (_options: unknown, command: Command) => {
      const heads = await operating((operator) => operator.sealAudit());
      const sealed = heads.map(({ chain, seq }) => ({ organization_id: chain, rows: seq }));
      const lines = sealed.map(
        ({ organization_id, rows }) => `${organization_id}: sealed at row ${rows}`,
      );
      report(command, { sealed }, lines.join('\n') || 'Every chain has a valid seal.');
    });
}

interface ChainReport {
  readonly organization_id: string;
  readonly rows: number;
  /** Hash of the last row. Stored elsewhere, it proves later that no earlier row was rewritten. */
  readonly head: string;
  readonly problem?: { readonly seq: number; readonly reason: string };
}

type AuditWalk = ReturnType<Parameters<Parameters<typeof operating>[0]>[0]['verifyAudit']>;

async function verifyChains(walk: AuditWalk): Promise<ChainReport[]> {
  const chains: ChainReport[] = [];
  for await (const { head, problem } of walk) {
    chains.push({
      organization_id: head.chain,
      rows: head.seq,
      head: head.hash,
      ...(problem === undefined ? {} : { problem: { seq: problem.seq, reason: problem.problem } }),
    });
  }
  return chains;
}

function record(row: AuditRow) {
  return {
    organization_id: row.chain,
    seq: row.seq,
    at: new Date(row.at).toISOString(),
    actor: { kind: row.by.kind, id: row.by.id },
    action: row.action,
    object: row.object,
    outcome: row.outcome,
    request_id: row.by.requestId,
    address: row.by.address,
    details: row.details,
    previous_hash: row.previousHash,
    hash: row.hash,
  };
}

function idsIn({ by, object }: AuditRow): string[] {
  return [by.id, object];
}

/** As the console says it: `2026-11-18 20:31:11Z  org_… #12  ann@acme.example removed member bob@acme.example`. */
function line(row: AuditRow, nameOf: (id: string) => string | undefined): string {
  const when = `${new Date(row.at).toISOString().slice(0, 19).replace('T', ' ')}Z`;
  const { by, action, object, details } = row;
  const actor = { kind: by.kind, id: by.id, name: nameOf(by.id) };
  const sentence = auditSentence({ actor, action, object, details }, nameOf);
  return `${when}  ${row.chain} #${row.seq}  ${sentence}`;
}
