/** What `convoke agents new` starts from. */
export interface Template {
  /** At most five files, by their names. */
  readonly files: (name: string) => Readonly<Record<string, string>>;
  /** The command that tests the agent, where it is not `agents test`. */
  readonly test?: (name: string) => string;
  /** Its needs before it can run: packages from npm, and a variable of the environment. */
  readonly needs?: { readonly packages: true; readonly variable: string };
}
