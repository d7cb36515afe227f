import { expect, test } from 'vitest';
import type { Json, JsonObject } from '../../../src/domain/json.ts';
import type { claudeApprovalsSuite } from './approvals-suite.ts';
import { promptOf } from './plans.ts';

/** What Claude returns for an agent with an `output_schema` (D-841), with the real SDK and with its recording. */
export function claudeOutputSuite(sit: Parameters<typeof claudeApprovalsSuite>[0]): void {
  const teams = {
    type: 'object',
    properties: { team: { enum: ['billing', 'tech'] } },
    required: ['team'],
    additionalProperties: false,
  };
  const giving = (output: Json) => `call StructuredOutput ${JSON.stringify(output)}`;
  // Everything that an agent does needs a person, but for its output.
  const asking = (schema: JsonObject) => ({
    output: { schema, check: () => [] },
    approvalRequiredTools: ['*'],
  });

  test('gives the output that its agent promises, after one that does not fit', async () => {
    const { sitting } = await sit(asking(teams));
    const script = `${giving({ team: 'cats' })} ;; ${giving({ team: 'tech' })} ;; say Sorted.`;
    const said = await sitting.say(promptOf(script));
    expect(said.end).toMatchObject({ outcome: 'completed', output: { team: 'tech' } });
    expect([said.asked, said.custom('tool_call'), said.custom('tool_result')]).toEqual([
      [],
      [],
      [],
    ]);
    expect(said.custom('output_refused')).toHaveLength(1);
  });

  test('gives an output that is no object as the member of one', async () => {
    const { sitting } = await sit(asking({ type: 'array', items: { enum: [1] } }));
    const said = await sitting.say(promptOf(`${giving({ value: [1] })} ;; say Sorted.`));
    expect(said.end).toMatchObject({ outcome: 'completed', output: [1] });
  });

  test('that gives no output has completed without one', async () => {
    const { sitting } = await sit(asking(teams));
    const { end } = await sitting.say(promptOf('say Not today.'));
    expect(end).toMatchObject({ outcome: 'completed' });
    expect(end).not.toHaveProperty('output');
  });
}
