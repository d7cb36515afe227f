/** What `convoke agents new` starts from. */
export interface Template {
  /** At most five files, by their names. */
  readonly files: (name: string) => Readonly<Record<string, string>>;
  /** The command that tests the agent, in its folder; a function of that folder, if it depends on where it is. */
  readonly test: string | ((folder: string) => string);
}
