import { z } from 'zod';
import { exampleId } from '../../ids.ts';

/** The parts of a callback's token: the run, the name of the message, its number and the proof. */
const tokenPattern =
  /^[A-Za-z0-9_-]{1,64}\.[A-Za-z0-9_-]{1,64}\.[A-Za-z0-9_-]{16}\.[A-Za-z0-9_-]{32}$/;

export const callbackToken = z
  .string()
  .regex(tokenPattern)
  .meta({
    description: 'The last part of a callback URL. It is a secret.',
    examples: [`${exampleId('run')}.paid.5Vq0f3o8Jm2kTzRw.mJ2rC7uYh0aXe5QvLk9sNd3bTf6gWzPo`],
  });

export const receivedCallback = z
  .object({ received: z.literal(true) })
  .meta({ id: 'ReceivedCallback', description: 'The message is stored.' });
