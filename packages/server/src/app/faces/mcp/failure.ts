/** The problem of a tool call. The model reads it, in the tool's result. */
export class ToolProblem extends Error {
  override readonly name = 'ToolProblem';
}

export function failTool(message: string): never {
  throw new ToolProblem(message);
}
