import { mkdir } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { at, begin, runIn } from '../../../server/test/support/api-steps.ts';
import { eventually } from '../../../server/test/support/eventually.ts';
import { addMember } from '../../../server/test/support/sign-in/console.ts';
import { consoleAgents } from './support/agents.ts';
import { consoleTests } from './support/console-tests.ts';
import { expectAccessibleAtBothWidths } from './support/screen-checks.ts';

const web = consoleTests({ agents: consoleAgents });

async function doneRun(prompt: string) {
  const { run } = await begin(web.server, 'echo', prompt);
  return runIn(web.server, run, 'completed');
}

const feedbackOn = async (run: { id: string; session_id: string }) =>
  (await web.server.send('list_feedback', { params: at(run) })).body.feedback;

test('a person rates a run with thumbs and words, and takes them back; others see them (D-575, D-577)', async () => {
  const run = await doneRun('rate me');
  const params = { ...at(run), key: 'rating' };
  await web.server.send('put_feedback', {
    params,
    body: { score: -1, comment: 'Wrong team, it is for billing.', end_user: 'u-17' },
  });
  await web.server.send('put_feedback', {
    params: { ...params, key: 'accuracy' },
    body: { score: 0.82, value: 'mostly right' },
  });
  const page = await web.visit(`${web.tenant}/runs/${run.id}`);
  const feedback = page.getByRole('group', { name: 'Feedback' });
  await feedback.getByText('Wrong team, it is for billing.').waitFor();
  await feedback.getByText('user u-17').waitFor();
  await feedback.getByText('accuracy 0.82').waitFor();
  const [up, down] = [
    feedback.getByRole('button', { name: 'Good answer' }),
    feedback.getByRole('button', { name: 'Bad answer' }),
  ];
  const own = async () => (await feedbackOn(run)).find(({ author }) => author.kind === 'person');
  await up.click();
  await feedback.locator('[aria-pressed="true"][aria-label="Good answer"]').waitFor();
  expect(await own()).toMatchObject({ key: 'rating', score: 1 });
  await down.click();
  await feedback.locator('[aria-pressed="true"][aria-label="Bad answer"]').waitFor();
  await feedback.getByRole('button', { name: 'Comment' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Comment').fill('Not for us.');
  await expectAccessibleAtBothWidths(page, { part: 'dialog' });
  await dialog.getByRole('button', { name: 'Save' }).click();
  await feedback.getByText('Not for us.').waitFor();
  expect(await own()).toMatchObject({ score: -1, comment: 'Not for us.' });
  await expectAccessibleAtBothWidths(page);
  const folder = process.env['CONVOKE_TEST_PICTURES'];
  if (folder !== undefined) {
    await mkdir(folder, { recursive: true });
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const width of [1280, 390]) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 800 });
        await page.screenshot({ path: `${folder}/run-${colorScheme}-${width}.png` });
      }
    }
    await page.emulateMedia({ colorScheme: null });
    await page.setViewportSize({ width: 1280, height: 800 });
  }
  // Without the words, and then without the thumb, nothing is left.
  await down.click();
  await feedback.locator('[aria-pressed="true"]').waitFor({ state: 'detached' });
  expect(await own()).not.toHaveProperty('score');
  await feedback.getByRole('button', { name: 'Edit comment' }).click();
  await dialog.getByLabel('Comment').fill('');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await feedback.getByText('Not for us.').waitFor({ state: 'detached' });
  expect(await own()).toBeUndefined();
  // What someone else says appears without a reload.
  await web.server.send('put_feedback', { params, body: { comment: 'From a client.' } });
  await feedback.getByText('From a client.').waitFor();
});

test('runs that were rated down are a filter of the list, and a viewer cannot rate (D-577, D-580)', async () => {
  const [good, bad] = [await doneRun('a good one'), await doneRun('a bad one')];
  for (const [run, score] of [
    [good, 1],
    [bad, -1],
  ] as const) {
    const params = { ...at(run), key: 'rating' };
    await web.server.send('put_feedback', { params, body: { score, end_user: 'u-1' } });
  }
  const page = await web.visit(`${web.tenant}/runs?q=one`);
  await page.getByRole('row', { name: 'a good one' }).waitFor();
  await page.getByLabel('Rating').selectOption('Rated down');
  await page.getByRole('row', { name: 'a good one' }).waitFor({ state: 'detached' });
  await page.getByRole('row', { name: 'a bad one' }).waitFor();
  await eventually(async () => new URL(page.url()).searchParams.get('rating') === 'down');
  const folder = process.env['CONVOKE_TEST_PICTURES'];
  if (folder !== undefined) {
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const width of [1280, 390]) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 800 });
        await page.screenshot({ path: `${folder}/runs-${colorScheme}-${width}.png` });
      }
    }
  }
  const viewer = await addMember(web.server, 'viewer');
  const seen = await web.openAs(viewer, `${web.tenant}/runs/${bad.id}`);
  const thumb = seen.getByRole('button', { name: 'Good answer' });
  await thumb.waitFor();
  expect(await thumb.isDisabled()).toBe(true);
});
