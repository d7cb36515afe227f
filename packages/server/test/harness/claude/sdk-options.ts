import { z } from 'zod';

export type Call = (...args: readonly unknown[]) => Promise<unknown>;
const hooks = z.looseObject({
  hooks: z.looseObject({
    PreToolUse: z.tuple([z.looseObject({ hooks: z.tuple([z.custom<Call>()]) })]),
  }),
  canUseTool: z.custom<Call>(),
  abortController: z.instanceof(AbortController),
  cwd: z.string(),
});

/** The parts of the options that the SDK calls back or reads. */
export function calledBack(options: Readonly<Record<string, unknown>>) {
  const { hooks: all, canUseTool, abortController, cwd } = hooks.parse(options);
  const [matcher] = all.PreToolUse;
  return { matcher, preToolUse: matcher.hooks[0], canUseTool, abortController, cwd };
}

export function json<T>(value: T) {
  return JSON.parse(JSON.stringify(value ?? null));
}
