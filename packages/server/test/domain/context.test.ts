import { eventTypes, isEventType } from '@convoke/contract';
import { describe, expect, test } from 'vitest';
import { contextEvents } from '../../src/domain/context.ts';

const style = { path: 'docs/STYLE.md', sha256: 'aaa', sizeBytes: 10 };
const claude = { path: 'CLAUDE.md', sha256: 'ccc', sizeBytes: 20 };
const skills = {
  skills: [{ name: 'tidy', description: 'Tidies', path: '.agents/skills/tidy' }],
  warnings: [{ directory: 'broken', reason: 'no SKILL.md' }],
};
const loaded = { contextFiles: [style], claudeMd: claude, skills };
const told = contextEvents(loaded, { known: {}, isFirstLeg: true });

describe("the events that announce a leg's context (spec §6)", () => {
  test('at first, everything it starts with', () => {
    expect(told.events).toEqual([
      {
        type: 'context_file_loaded',
        data: { path: 'docs/STYLE.md', sha256: 'aaa', size_bytes: 10 },
      },
      { type: 'claude_md_loaded', data: { path: 'CLAUDE.md', sha256: 'ccc', size_bytes: 20 } },
      { type: 'agent_skills_loaded', data: skills },
    ]);
  });

  test('in the next run of the session the same again', () => {
    const again = contextEvents(loaded, { known: told.known, isFirstLeg: true });
    expect(again.events).toEqual(told.events);
  });

  test('after it was parked only what changed since, with the digest before', () => {
    const changed = {
      ...loaded,
      contextFiles: [{ ...style, sha256: 'bbb' }],
      claudeMd: { ...claude, sha256: 'ddd' },
    };
    const resumed = contextEvents(changed, { known: told.known, isFirstLeg: false });
    expect(resumed.events).toEqual([
      {
        type: 'context_file_changed',
        data: { path: 'docs/STYLE.md', sha256: 'bbb', size_bytes: 10, previous_sha256: 'aaa' },
      },
      {
        type: 'claude_md_changed',
        data: { path: 'CLAUDE.md', sha256: 'ddd', size_bytes: 20, previous_sha256: 'ccc' },
      },
    ]);
    const nothing = contextEvents(loaded, { known: told.known, isFirstLeg: false });
    expect(nothing.events).toEqual([]);
  });

  test('a file that is new since is loaded, not changed', () => {
    const added = { path: 'docs/NEW.md', sha256: 'eee', sizeBytes: 1 };
    const { events } = contextEvents(
      { ...loaded, contextFiles: [style, added] },
      { known: told.known, isFirstLeg: false },
    );
    expect(events).toEqual([
      { type: 'context_file_loaded', data: { path: 'docs/NEW.md', sha256: 'eee', size_bytes: 1 } },
    ]);
  });

  test('a context file that is also the project instructions is announced as both', () => {
    const { events } = contextEvents(
      { contextFiles: [claude], claudeMd: claude },
      { known: {}, isFirstLeg: true },
    );
    expect(events.map(({ type }) => type)).toEqual(['context_file_loaded', 'claude_md_loaded']);
  });

  test('every payload is the one the contract declares', () => {
    for (const { type, data } of told.events) {
      if (!isEventType(type)) throw new Error(type);
      expect(eventTypes[type].data.parse(data)).toEqual(data);
    }
  });
});
