// The file that `convoke agents types` writes (D-571).
import { freeName, typeName } from './names.ts';
import { TypeFile } from './python.ts';
import type { Schema } from './shape.ts';
import { documented, indented, typeOf } from './typescript.ts';

/** The languages of the files, each with the end of the name of its file. */
export const typeLanguages = ['ts', 'python'] as const;

export interface TypedAgent {
  readonly name: string;
  readonly description: string;
  readonly input_schema?: Schema | undefined;
  readonly output_schema?: Schema | undefined;
}

/** The types of the inputs and outputs of agents, as the source of a module that needs no other. */
export function agentTypes(
  agents: readonly TypedAgent[],
  language: (typeof typeLanguages)[number],
): string {
  return language === 'ts' ? inTypeScript(agents) : inPython(agents);
}

/** What an agent takes that declares nothing. */
const promptOnly: Schema = {
  type: 'object',
  properties: { prompt: { type: 'string' } },
  required: ['prompt'],
  additionalProperties: false,
};

const about = 'Written by `convoke agents types`. Run it again when a schema has changed.';

const json = `/** A value that JSON can carry. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;

/** An object whose members no schema declares. */
export type JsonObject = { readonly [member: string]: Json | undefined };`;

function inTypeScript(agents: readonly TypedAgent[]): string {
  const declared = new Map<string, string>();
  const members = agents.map(({ name, description, input_schema, output_schema }) => {
    const base = baseName(name);
    const input = typeIn(input_schema ?? promptOnly, { name: `${base}Input`, declared });
    const output = typeIn(output_schema ?? {}, { name: `${base}Output`, declared });
    const key = /^[a-z]\w*$/.test(name) ? name : `'${name}'`;
    const member = `${key}: {\n${indented(`input: ${input};\noutput: ${output};`)}\n};`;
    return description === '' ? member : documented({ description }, member);
  });
  const table = `/** The agents by name, for \`Convoke<Agents>\`. */\nexport interface Agents {\n${members.map(indented).join('\n')}\n}`;
  return `${[`// ${about}`, json, ...declared.values(), table].join('\n\n')}\n`;
}

interface Declaring {
  /** Of the type, and the beginning of the names of what its references lead to. */
  readonly name: string;
  readonly declared: Map<string, string>;
}

/** Returns the type of a schema, and declares what its references lead to. */
function typeIn(schema: Schema, { name, declared }: Declaring): string {
  const refs = new Map<string, string>();
  const definitions = Object.entries(schema.$defs ?? {});
  for (const [component] of definitions) {
    const free = freeName(`${name}${typeName(component)}`, (each) => declared.has(each));
    // Reserves it: definitions name each other.
    declared.set(free, '');
    refs.set(component, free);
  }
  const direction = name.endsWith('Input') ? 'input' : 'output';
  const context = {
    source: 'agent',
    direction,
    enums: {},
    refs: Object.fromEntries(refs),
  } as const;
  for (const [component, each] of definitions) {
    const type = refs.get(component) ?? '';
    declared.set(type, documented(each, `export type ${type} = ${typeOf(each, context)};`));
  }
  return typeOf(schema, context);
}

function inPython(agents: readonly TypedAgent[]): string {
  const taken = new Set<string>();
  // The names of inputs and outputs first: those of their parts give way.
  const roots = agents.flatMap(({ name, input_schema, output_schema }) => {
    const base = freeName(baseName(name), (each) => taken.has(`${each}Input`));
    const both = [
      { name: `${base}Input`, schema: input_schema ?? promptOnly, direction: 'input' as const },
      { name: `${base}Output`, schema: output_schema ?? {}, direction: 'output' as const },
    ];
    for (const each of both) taken.add(each.name);
    return both;
  });
  const texts = roots.map(({ name, schema, direction }) => {
    const components = schema.$defs ?? {};
    const refs = new Map<string, string>();
    for (const component of Object.keys(components)) {
      const free = freeName(`${name}${typeName(component)}`, (each) => taken.has(each));
      taken.add(free);
      refs.set(component, free);
    }
    const names = {
      source: 'agent',
      enums: {},
      refs: Object.fromEntries(refs),
      components,
      inner: {},
      taken,
    } as const;
    const file = new TypeFile(names, direction);
    file.declare(name, schema);
    for (const each of file.names) taken.add(each);
    return file.text;
  });
  const text = texts.join('\n\n\n');
  const collections = text.includes('Sequence[') ? 'Mapping, Sequence' : 'Mapping';
  return `# ${about}
from __future__ import annotations

from collections.abc import ${collections}
from typing import Any, Literal, TypeAlias, TypedDict

#: An object whose members no schema declares.
JsonObject = Mapping[str, Any]


${text}
`;
}

/** What the names of an agent's types begin with. */
function baseName(agent: string): string {
  return typeName(agent).replace(/^(?=\d|$)/, 'Agent');
}
