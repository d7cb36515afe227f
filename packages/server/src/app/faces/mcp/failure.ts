/** What is wrong with the call of a tool. The model reads it, in the tool's result. */
export class ToolProblem extends Error {
  override readonly name = 'ToolProblem';
}

export function failTool(message: string): never {
  throw new ToolProblem(message);
}
