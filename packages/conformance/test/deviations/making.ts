// How a proxy makes a service deviate.
import type { Deviation, Passed, Returned } from '../deviating-proxy.ts';

export type Json = Record<string, unknown>;

/** What a service does wrong, and the checks that fail because of it, by their titles. */
export interface Wrong {
  readonly what: string;
  readonly failing: readonly string[];
  readonly make: () => Deviation;
}

/** Has the word of the restart command set a flag: what follows deviates. */
export const restartPath = '/restarted';

export const toApplication = /\/v1\/(?!organizations\/)/;
export const toManagement = /\/v1\/organizations\//;

/** Changes the JSON of successful answers to requests whose method and path match. */
export function changing(
  pattern: RegExp,
  change: (body: Json, request: Passed) => unknown,
): Deviation {
  return {
    answer(answer, request) {
      if (!matches(pattern, request) || answer.status >= 300) return;
      const body = JSON.parse(textOf(answer)) as Json;
      const changed = change(body, request);
      answer.text = bytesOf(changed ?? body);
    },
  };
}

/** Leaves a member out of successful answers. */
export function without(pattern: RegExp, ...names: readonly string[]): Deviation {
  return changing(pattern, (body) => {
    for (const name of names) delete body[name];
  });
}

/** Answers instead of the service, which never learns of the request. */
export function pretending(pattern: RegExp, status: number, body: Json = {}): Deviation {
  return {
    request: (request) => (matches(pattern, request) ? reply(status, body) : undefined),
  };
}

/** Accepts what the service refuses. */
export function accepting(pattern: RegExp): Deviation {
  return {
    answer(answer, request) {
      if (matches(pattern, request) && answer.status >= 400) answer.status = 200;
    },
  };
}

/** Replaces a part of each frame of a type. */
export function framing(type: RegExp, from: RegExp | string, to: string): Deviation {
  const ofType = new RegExp(`^event: (?:${type.source})$`, 'm');
  return { frame: (frame) => (ofType.test(frame) ? frame.replace(from, to) : frame) };
}

/** Takes headers or members away on the way to the service. */
export function forgetting(forget: (request: Passed) => void): Deviation {
  return {
    request(request) {
      forget(request);
      return undefined;
    },
  };
}

/** Deviates from the restart on. */
export function afterRestart(deviation: Deviation): Deviation {
  let isRestarted = false;
  return {
    request(request) {
      isRestarted ||= request.path === restartPath;
      if (request.path === restartPath) return reply(200, {});
      return isRestarted ? deviation.request?.(request) : undefined;
    },
    answer(answer, request) {
      if (isRestarted) deviation.answer?.(answer, request);
    },
    frame: (frame) => (isRestarted ? (deviation.frame?.(frame) ?? frame) : frame),
  };
}

export function reply(status: number, body: Json): Returned {
  const text = status === 204 ? '' : JSON.stringify(body);
  return { status, headers: { 'content-type': 'application/json' }, text };
}

export function matches(pattern: RegExp, { method, path }: Passed): boolean {
  return pattern.test(`${method} ${path}`);
}

/** The proxy holds bodies as one character for each byte. */
export function textOf({ text }: Returned): string {
  return Buffer.from(text, 'latin1').toString();
}

export function bytesOf(body: unknown): string {
  return Buffer.from(JSON.stringify(body)).toString('latin1');
}
