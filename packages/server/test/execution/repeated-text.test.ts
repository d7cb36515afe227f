import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RepeatedText } from '../../src/execution/recording/repeated-text.ts';

const texts = fc.array(fc.stringMatching(/^[ab]{1,3}$/), { maxLength: 6 });
const deltas = (parts: readonly string[]) => parts.map((text, index) => ({ id: `${index}`, text }));

/** Plays what a leg says against what was cut before. Returns the answer, and what was taken back in between. */
function play(cut: readonly string[], said: readonly string[]) {
  const repeated = new RepeatedText(deltas(cut));
  let answer = cut.join('');
  let discards = 0;
  const news = [...said.map((text) => () => repeated.take(text)), () => repeated.settle()];
  for (const next of news) {
    const { text, discard } = next();
    if (discard !== undefined) {
      discards += 1;
      const kept = cut.slice(0, Number(discard.id)).join('');
      expect(answer.length - discard.characters).toBe(kept.length);
      answer = kept;
    }
    answer += text;
  }
  return { answer, discards };
}

test('the answer is what the leg said, however both were divided', () => {
  fc.assert(
    fc.property(texts, texts, (cut, said) => {
      const whole = said.join('');
      const { answer, discards } = play(cut, said);
      expect(answer).toBe(whole);
      expect(discards).toBe(whole.startsWith(cut.join('')) ? 0 : 1);
    }),
  );
});
