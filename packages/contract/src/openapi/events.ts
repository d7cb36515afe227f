import { type EventType, eventTypes } from '../events/event-types.ts';
import { type DocumentedEvent, type Ref, type Schema, schemaRefPrefix } from './document.ts';
import type { SchemaWriter } from './schemas.ts';

const knownTypes = Object.keys(eventTypes) as EventType[];

/** Adds the payload of every event type to the components, and returns the types with their meaning. */
export function documentedEvents(writer: SchemaWriter): DocumentedEvent[] {
  return knownTypes.map((type) => {
    const { terminal, description, data } = eventTypes[type];
    writer.define(`${pascalCase(type)}Data`, data, 'output');
    return { type, terminal, description, data: payloadRef(type) };
  });
}

/**
 * Replaces the envelope of events by one schema per type, so that a generated client narrows `data` by `type`. Types
 * that are not listed match the open alternative: agent frameworks have their own, and later versions add some. It is
 * beside the listed ones and not among them, because validators require a constant of everything that a discriminator
 * selects from.
 */
export function withTypedEvents(schemas: Readonly<Record<string, Schema>>): Record<string, Schema> {
  const { RunEvent: envelope, ...others } = schemas;
  if (envelope === undefined) throw new Error('the components have no RunEvent');
  const typed = knownTypes.map((type) => [eventName(type), typedEvent(envelope, type)] as const);
  const mapping = Object.fromEntries(
    knownTypes.map((type) => [type, schemaRefPrefix + eventName(type)]),
  );
  const all = {
    ...others,
    ...Object.fromEntries(typed),
    OtherRunEvent: openEvent(envelope),
    KnownRunEvent: {
      description: 'An event of a type that this version of the API names.',
      oneOf: Object.values(mapping).map(($ref) => ({ $ref })),
      discriminator: { propertyName: 'type', mapping },
    },
    RunEvent: {
      description: envelope.description ?? '',
      oneOf: ['KnownRunEvent', 'OtherRunEvent'].map((name) => ({ $ref: schemaRefPrefix + name })),
    },
  };
  return Object.fromEntries(Object.entries(all).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function typedEvent({ examples: _examples, ...envelope }: Schema, type: EventType): Schema {
  const { properties } = envelope;
  return {
    ...envelope,
    description: eventTypes[type].description,
    properties: { ...properties, type: { type: 'string', const: type }, data: payloadRef(type) },
  };
}

function openEvent({ examples: _examples, ...envelope }: Schema): Schema {
  const { properties = {} } = envelope;
  const { type: name } = properties;
  return {
    ...envelope,
    description:
      'An event of an agent framework, named `<framework>.<name>`, or of a type that a later version added. Never terminal.',
    properties: {
      ...properties,
      type: { ...(typeof name === 'object' ? name : {}), not: { enum: [...knownTypes] } },
    },
  };
}

function eventName(type: EventType): string {
  return `${pascalCase(type)}Event`;
}

function payloadRef(type: EventType): Ref {
  return { $ref: `${schemaRefPrefix}${pascalCase(type)}Data` };
}

function pascalCase(name: string): string {
  return name.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
