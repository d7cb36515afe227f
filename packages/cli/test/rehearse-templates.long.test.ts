// The template in TypeScript is rehearsed by its own test, those of frameworks by templates.agent.test.ts.
import { expect, test } from 'vitest';
import { requireSandbox } from '../../../test/services.ts';
import { openTemplates } from './rehearsed-template.ts';

test('the template in Python, killed at every line, does nothing twice', async () => {
  requireSandbox();
  await using templates = await openTemplates();
  await templates.create('notes', 'python');
  const report = await templates.kill('notes', 'Hello there');
  expect(report).toMatchObject({
    text: 'You said: Hello there\nIt is in note.txt, note 1 of this session.\n',
    kill: { lost: 0, problems: [] },
  });
  expect(report.kill.runs).toBeGreaterThan(20);
}, 600_000);

test('the template of a program that speaks the protocol, killed at every line, does nothing twice', async () => {
  requireSandbox();
  await using templates = await openTemplates();
  await templates.create('notes', 'stdio');
  const report = await templates.kill('notes', 'Hello there');
  expect(report).toMatchObject({
    text: 'You said: Hello there\nIt is in note.txt.\n',
    // Before its first recovery point, and between a question and the end of its leg, such a program cannot continue.
    kill: { lost: 4, problems: [] },
  });
}, 600_000);
