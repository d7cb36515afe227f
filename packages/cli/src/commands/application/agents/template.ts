/** What `convoke agents new` starts from. */
export interface Template {
  /** At most five files, by their names. */
  readonly files: (name: string) => Readonly<Record<string, string>>;
  /** The command that tests the agent. */
  readonly test: (place: AgentPlace) => string;
  /** What it needs before it can run: packages from npm, and a variable of the environment. */
  readonly needs?: { readonly packages: true; readonly variable: string };
}

export interface AgentPlace {
  readonly name: string;
  readonly folder: string;
  /** The folder as a person at the terminal names it. */
  readonly shown: string;
}
