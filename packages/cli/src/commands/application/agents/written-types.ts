import { agentTypes, type typeLanguages } from '@convoke/contract/agent-types';
import type { Command } from 'commander';
import { collect } from '../../../collect.ts';
import { globalOptions } from '../../../options/global-options.ts';
import { connect } from '../../../sign-in/connection.ts';
import { forOutput, print, printJson } from '../../../terminal/output.ts';
import { noSuchAgent } from './no-such-agent.ts';

export interface TypesOptions {
  readonly language: (typeof typeLanguages)[number];
}

/** Prints the types of the agents with these names, or of all (D-571). */
export async function writeTypes(
  names: readonly string[],
  { language }: TypesOptions,
  command: Command,
): Promise<void> {
  const convoke = await connect(command);
  const agents = await collect(convoke.agents.list());
  const unknown = names.find((name) => agents.every((agent) => agent.name !== name));
  if (unknown !== undefined) throw await noSuchAgent(unknown, agents);
  const chosen = names.length === 0 ? agents : agents.filter(({ name }) => names.includes(name));
  const text = agentTypes(chosen, language);
  if (globalOptions(command).json) return printJson({ language, text });
  print(forOutput(text.trimEnd()));
}
