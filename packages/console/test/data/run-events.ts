import type { RunEvent } from '@convoke/sdk';

/** The beginning of every script of events. */
export const startedAt = Date.parse('2026-11-15T12:00:00.000Z');

/** Builds events with ids in order; `at` is in milliseconds after the start. */
export class EventScript {
  readonly events: RunEvent[] = [];

  add(type: string, at: number, data: object = {}): string {
    const id = String(this.events.length + 1).padStart(16, '0');
    const event = {
      id,
      type,
      session_id: 'sess_1',
      run_id: 'run_1',
      created_at: new Date(startedAt + at).toISOString(),
      data,
    };
    this.events.push(event as unknown as RunEvent);
    return id;
  }

  say(at: number, text: string): string {
    return this.add('message_delta', at, { text, framework: 'scripted', model: '' });
  }
}
