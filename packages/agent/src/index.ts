export {
  type Agent,
  type Approval,
  type AskOptions,
  type Context,
  type TextSource,
  type Usage,
  agent,
} from './agent.ts';
export type { CallOptions, Called } from './waits/calls.ts';
export type { Duration } from './waits/durations.ts';
export { Denied, InDoubt, Misuse, ModelFailed, StepFailed } from './failures.ts';
export type { Json, JsonObject } from './json.ts';
export type { StepCall, StepOptions } from './steps.ts';
export type { ReceiveOptions, Received } from './waits/waits.ts';
