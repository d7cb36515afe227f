interface SuggestedAgent {
  readonly name: string;
  readonly input?: { check(value: { readonly prompt: string }): readonly unknown[] };
}

/** Suggests three commands where the demo agents are, otherwise one, for an agent that takes a text. */
export function suggestions(agents: readonly SuggestedAgent[], hasTour: boolean): string[] {
  const names = agents.filter(takesText).map(({ name }) => name);
  if (hasTour && names.includes('echo') && names.includes('demo')) {
    return [
      'npx convoke invoke echo "Hello"    # a run, as it streams',
      'node examples/tour.mjs question    # the agent asks, you answer',
      'npx convoke invoke demo "Hello"    # it asks, and requests permission to write a file',
    ];
  }
  const name = names.includes('demo') ? 'demo' : names[0];
  const [other] = agents;
  return name === undefined && other !== undefined
    ? [`npx convoke agents show ${other.name}    # what it takes, to be given with invoke --input`]
    : [`npx convoke invoke ${name ?? '<agent>'} "Hello"    # a run, as it streams`];
}

function takesText({ input }: SuggestedAgent): boolean {
  return input === undefined || input.check({ prompt: 'Hello' }).length === 0;
}
