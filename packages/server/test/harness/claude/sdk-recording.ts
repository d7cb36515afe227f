import { appendFileSync, readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { z } from 'zod';
import type { ClaudeSdk } from '../../../src/harness/claude/sdk.ts';
import { type Call, calledBack, json } from './sdk-options.ts';

/**
 * What passes between the adapter and Claude's SDK during one query, in order: messages, prompts, questions of the SDK
 * to the adapter (`call`) and the answers to them (`reply`), and what the adapter does to the query.
 */
const entry = z.union([
  z.strictObject({ message: z.json() }),
  z.strictObject({ prompt: z.json() }),
  z.strictObject({
    call: z.number(),
    of: z.enum(['preToolUse', 'canUseTool']),
    with: z.array(z.json()),
  }),
  z.strictObject({ reply: z.number(), is: z.json() }),
  z.strictObject({ did: z.enum(['interrupt', 'abort']) }),
  z.strictObject({ fails: z.string() }),
]);
const query = z.strictObject({ test: z.string(), entries: z.array(entry) });

export type Entry = z.infer<typeof entry>;
export type RecordedQuery = z.infer<typeof query>;

/** The queries of each test, in order. */
export function readRecording(path: string): ReadonlyMap<string, readonly RecordedQuery[]> {
  const lines = readFileSync(path, 'utf8').trim().split('\n');
  return Map.groupBy(
    lines.map((line) => query.parse(JSON.parse(line))),
    ({ test }) => test,
  );
}

/** The title of the test that runs, without its suite. */
export function currentTest(): string {
  return expect.getState().currentTestName?.split(' > ').at(-1) ?? '';
}

/** Passes everything on to the real SDK, and appends each query to a file. */
export function recordingSdk(sdk: ClaudeSdk, path: string): ClaudeSdk {
  return {
    query({ prompt, options }) {
      const entries: Entry[] = [];
      const test = currentTest();
      const { matcher, preToolUse, canUseTool, abortController } = calledBack(options);
      let calls = 0;
      const recorded =
        (of: 'preToolUse' | 'canUseTool', call: Call): Call =>
        async (...args) => {
          calls += 1;
          const number = calls;
          entries.push({ call: number, of, with: json(of === 'preToolUse' ? [args[0]] : args) });
          const reply = await call(...args);
          entries.push({ reply: number, is: json(reply) });
          return reply;
        };
      abortController.signal.addEventListener('abort', () => entries.push({ did: 'abort' }));
      async function* prompts() {
        for await (const each of prompt) {
          entries.push({ prompt: json(each) });
          yield each;
        }
      }
      const running = sdk.query({
        prompt: prompts(),
        options: {
          ...options,
          hooks: { PreToolUse: [{ ...matcher, hooks: [recorded('preToolUse', preToolUse)] }] },
          canUseTool: recorded('canUseTool', canUseTool),
        },
      });
      return {
        interrupt() {
          entries.push({ did: 'interrupt' });
          return running.interrupt();
        },
        async *[Symbol.asyncIterator]() {
          try {
            for await (const message of running) {
              entries.push({ message: json(message) });
              yield message;
            }
          } catch (error) {
            entries.push({ fails: error instanceof Error ? error.message : String(error) });
            throw error;
          } finally {
            appendFileSync(path, `${JSON.stringify({ test, entries }, withoutNoise)}\n`);
          }
        },
      };
    },
  };
}

/** Fields that say nothing about a conversation and differ in each recording. */
const noise = new Set([
  'additional_directories',
  'agents',
  'analytics_disabled',
  'apiKeySource',
  'cache_creation',
  'capabilities',
  'claude_code_version',
  'duration_api_ms',
  'duration_ms',
  'effort',
  'fallback_credit',
  'fast_mode_disabled_reason',
  'fast_mode_state',
  'inference_geo',
  'iterations',
  'messaging_socket_path',
  'modelUsage',
  'model_usage_since_last_result',
  'original_cwd',
  'output_style',
  'output_tokens_details',
  'per_turn_effort_active',
  'permission_denials',
  'plugins',
  'product_feedback_disabled',
  'prompt_id',
  'queued_turn_count',
  'requestId',
  'request_id',
  'result_index',
  'safety_stops',
  'server_tool_use',
  'service_tier',
  'signal',
  'slash_commands',
  'speed',
  'subagent_stats',
  'suggestions',
  'terminal_slash_commands',
  'timestamp',
  'total_cost_usd',
  'transcript_path',
  'ttft_ms',
  'ultrathink_available',
  'ultrathink_typed_raises',
  'uuid',
  'view_mode',
]);

function withoutNoise(name: string, value: unknown): unknown {
  return noise.has(name) ? undefined : value;
}
