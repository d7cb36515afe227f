import type { JsonObject } from '@convoke/sdk';
import { Command, Option } from 'commander';
import { collect } from '../../collect.ts';
import { globalOptions } from '../../options/global-options.ts';
import { example, repeated } from '../../options/options.ts';
import { connect } from '../../sign-in/connection.ts';
import { inputOption } from '../../options/run-input.ts';
import { forOutput, print, printJson } from '../../terminal/output.ts';
import { printFacts, printTable } from '../../terminal/table.ts';
import type { NewAgentOptions } from './agents/create.ts';
import type { RehearsalOptions } from './agents/rehearse.ts';
import type { TemplateName } from './agents/templates.ts';
import type { TypesOptions } from './agents/written-types.ts';

/** Named here, so that the command line need not load the templates to know its options. */
const templates: Readonly<Record<TemplateName, true>> = {
  ts: true,
  python: true,
  stdio: true,
  'ai-sdk': true,
  langgraph: true,
  mastra: true,
  'openai-agents': true,
};

export function agentsCommand(): Command {
  return new Command('agents')
    .description('List the agents you can invoke, and write, rehearse and test your own')
    .addCommand(listAgents(), { isDefault: true })
    .addCommand(showAgent())
    .addCommand(agentsTypes())
    .addCommand(newAgent())
    .addCommand(checkAgents())
    .addCommand(rehearseAgent())
    .addCommand(testAgent())
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

function agentsTypes(): Command {
  return new Command('types')
    .description('Write the types of inputs and outputs, from the schemas of agents')
    .argument('[names...]', 'names of agents; all that you can invoke without them')
    .addOption(
      new Option('--language <language>', 'of your program')
        .choices(['ts', 'python'])
        .default('ts'),
    )
    .addHelpText('after', example('agents types > convoke-agents.ts'))
    .addHelpText(
      'after',
      '\nThe file needs no other: TypeScript gets the interface Agents, for\nnew Convoke<Agents>(…); Python gets a TypedDict for each input and output. With\n--json prints {"language", "text"}.\n',
    )
    .action(async (names: string[], options: TypesOptions, command: Command) => {
      const { writeTypes } = await import('./agents/written-types.ts');
      await writeTypes(names, options, command);
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
    .option('--no-install', 'skip npm install (framework templates need it)')
    .addHelpText('after', example('agents new refunds'))
    .action(async (name: string, options: NewAgentOptions, command: Command) => {
      // Only this command needs the templates.
      const { createAgent } = await import('./agents/create.ts');
      await createAgent(name, options, command);
    });
}

function checkAgents(): Command {
  return new Command('check')
    .description('Check agent folders without a server')
    .argument('[name]', 'name of the agent; all of them without it')
    .addHelpText('after', example('agents check refunds'))
    .addHelpText(
      'after',
      '\nReads agent.yaml and loads the program in the sandbox, as the server does.\nWith --json prints {"ok", "agents": […]}. Exits with 1 if a server would not\nload an agent.\n',
    )
    .action(async (name: string | undefined, _options: unknown, command: Command) => {
      const { reportAgents } = await import('./agents/check.ts');
      await reportAgents(name, command);
    });
}

function rehearseAgent(): Command {
  return new Command('rehearse')
    .description('Run one of your agents in this terminal, without a server')
    .argument('<name>', 'name of the agent, which is its folder')
    .argument('[prompt]', 'prompt for the agent')
    .addOption(inputOption())
    .option('--kill', 'then repeat the run, killing or draining the process at every line')
    .addOption(
      new Option('--approve <decision>', 'decision for every permission request').choices([
        'allow',
        'deny',
      ]),
    )
    .option(
      '--answer <text>',
      'answer to the next question: text or an option number; may be repeated',
      repeated,
    )
    .option(
      '--signal <name=json>',
      'a message to the run, such as paid=\'{"amount": 20}\'; may be repeated',
      repeated,
    )
    .option(
      '--call <agent=answer>',
      'what a called agent answers, such as researcher="Oak", as JSON if it has an output_schema; `done` by default; may be repeated',
      repeated,
    )
    .addHelpText('after', example('agents rehearse refunds "order 7" --kill'))
    .addHelpText(
      'after',
      '\nFor agents of the frameworks code, stdio and scripted, in the sandbox that the\nserver uses. Nothing is stored, but effects outside the session folder are\nreal. With --kill they happen dozens of times: use a stand-in for services that\ncost money.\n\nExit codes: 0 completed; 3 failed, 4 cancelled; with --kill 1 if an effect ran\ntwice, or text or state differ.\n',
    )
    .action(
      async (
        name: string,
        prompt: string | undefined,
        options: RehearsalOptions,
        command: Command,
      ) => {
        const { rehearseInTerminal } = await import('./agents/rehearse.ts');
        await rehearseInTerminal({ ...options, name, prompt }, command);
      },
    );
}

function testAgent(): Command {
  return new Command('test')
    .description('Run the tests in the folder of one of your agents')
    .argument('[name]', 'name of the agent; the one in this folder without it')
    .addHelpText('after', example('agents test refunds'))
    .addHelpText(
      'after',
      '\nRuns *.test.ts and *.test.js with the Node that the server uses, whatever the\nshell\'s node is, and test*.py with the Python of .venv or the system\'s. The kit\nis the server\'s, so nothing has to be installed for it.\n\nWith --json prints {"ok", "tests"} and the report to standard error. Exits with\n1 if a test failed, and if there is none.\n',
    )
    .action(async (name: string | undefined, _options: unknown, command: Command) => {
      const { runTests } = await import('./agents/run-tests.ts');
      await runTests(name, command);
    });
}

function showAgent(): Command {
  return new Command('show')
    .description('Show an agent, or why its folder failed to load')
    .argument('<agent>', 'name of the agent')
    .addHelpText('after', example('agents show demo'))
    .action(async (name: string, _options: unknown, command: Command) => {
      const convoke = await connect(command);
      const agents = await collect(convoke.agents.list());
      if (!agents.some((item) => item.name === name)) {
        const { noSuchAgent } = await import('./agents/no-such-agent.ts');
        throw await noSuchAgent(name, agents);
      }
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
        version: agent.digest?.slice(0, 8),
        'the server lacks': agent.missing_variables?.join(', '),
      });
      printSchema('input', agent.input_schema);
      printSchema('output', agent.output_schema);
    });
}

function printSchema(of: string, schema: JsonObject | undefined): void {
  if (schema === undefined) return;
  print(`\n${of}:`);
  print(forOutput(JSON.stringify(schema, undefined, 2)));
}
