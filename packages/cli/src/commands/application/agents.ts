import type { AgentRecord } from '@convoke/sdk';
import { Command, Option } from 'commander';
import { collect } from '../../collect.ts';
import { Failure } from '../../failure.ts';
import { globalOptions } from '../../options/global-options.ts';
import { example } from '../../options/options.ts';
import { loadServer } from '../../server.ts';
import { connect } from '../../sign-in/connection.ts';
import { printJson } from '../../terminal/output.ts';
import { printFacts, printTable } from '../../terminal/table.ts';
import type { TemplateName } from './agents/templates.ts';

/** Named here, so that the command line need not load the templates to know its options. */
const templates: Readonly<Record<TemplateName, true>> = { ts: true, python: true };

export function agentsCommand(): Command {
  return new Command('agents')
    .description('List the agents you can invoke, show one, and write a new one')
    .addCommand(listAgents(), { isDefault: true })
    .addCommand(showAgent())
    .addCommand(newAgent())
    .addHelpText('after', example('agents --json'));
}

function listAgents(): Command {
  return new Command('list')
    .description('List the agents you can invoke')
    .addHelpText('after', example('agents list'))
    .action(async (_options: unknown, command: Command) => {
      const convoke = await connect(command);
      const agents = await collect(convoke.agents.list());
      if (globalOptions(command).json) return printJson({ agents });
      const needs = agents.some(({ missing_variables: missing }) => missing !== undefined);
      printTable(
        ['NAME', 'FRAMEWORK', 'FILES', ...(needs ? ['NEEDS'] : []), 'DESCRIPTION'],
        agents.map((agent) => [
          agent.name,
          agent.framework,
          agent.session_files_supported ? 'yes' : 'no',
          ...(needs ? [agent.missing_variables?.join(', ') ?? ''] : []),
          agent.description,
        ]),
      );
    });
}

function newAgent(): Command {
  return new Command('new')
    .description('Write the folder of a new agent')
    .argument('<name>', 'name of the agent, which becomes its folder')
    .addOption(
      new Option('--template <name>', 'what to start from')
        .choices(Object.keys(templates))
        .default('ts'),
    )
    .addHelpText('after', example('agents new refunds'))
    .action(
      async (name: string, { template }: { readonly template: TemplateName }, command: Command) => {
        // Only this command needs the templates.
        const { createAgent } = await import('./agents/create.ts');
        await createAgent(name, template, command);
      },
    );
}

function showAgent(): Command {
  return new Command('show')
    .description('Show an agent, or why its folder failed to load')
    .argument('<agent>', 'name of the agent')
    .addHelpText('after', example('agents show demo'))
    .action(async (name: string, _options: unknown, command: Command) => {
      const convoke = await connect(command);
      const agents = await collect(convoke.agents.list());
      if (!agents.some((item) => item.name === name)) throw await missing(name, agents);
      const agent = await convoke.agents.get(name);
      if (globalOptions(command).json) return printJson(agent);
      printFacts({
        agent: agent.name,
        description: agent.description,
        framework: agent.framework,
        model: agent.model,
        'asks before': agent.approval_required_tools.join(', '),
        tools: agent.tools.join(', '),
        skills: agent.skills.join(', '),
        files: agent.session_files_supported ? 'accepted' : 'not accepted',
        'the server lacks': agent.missing_variables?.join(', '),
      });
    });
}

/**
 * Explains why there is no such agent. The API does not tell clients about broken folders, so the folder of agents on
 * this machine is read, if there is one.
 */
async function missing(name: string, agents: readonly AgentRecord[]): Promise<Failure> {
  const known = agents.map((agent) => agent.name).join(', ') || 'none';
  const problem = await problemOf(name).catch(() => undefined);
  if (problem !== undefined) return new Failure(`the agent "${name}" is not loaded: ${problem}`);
  return new Failure(`there is no agent "${name}" (agents: ${known})`);
}

async function problemOf(name: string): Promise<string | undefined> {
  const { agentProblems, readConfig } = await loadServer();
  const problems = await agentProblems(readConfig(process.env));
  const found = problems.find(({ folder }) => folder === name || folder.endsWith(`/${name}`));
  return found && `${found.folder}: ${found.reason}`;
}
