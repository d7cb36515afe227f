import type { Scenario } from '../scenario.ts';
import { accounts } from './accounts.ts';
import { append } from './append.ts';
import { calls, ruledCalls } from './calls.ts';
import { deltasMany, deltasOne, deltasPaced } from './deltas.ts';
import { faces } from './faces.ts';
import { firstEvent } from './first-event.ts';
import { history } from './history.ts';
import { idleStreams } from './idle-streams.ts';
import { mcpCalls, mcpWaits } from './mcp.ts';
import { pacedFifty, pacedMany, readersFifty, readersMany } from './readers.ts';
import { replay } from './replay.ts';
import { starts } from './starts.ts';

export const scenarios: readonly Scenario[] = [
  starts,
  deltasOne,
  deltasMany,
  deltasPaced,
  firstEvent,
  append,
  calls,
  ruledCalls,
  readersFifty,
  readersMany,
  pacedFifty,
  pacedMany,
  replay,
  idleStreams,
  faces,
  mcpCalls,
  mcpWaits,
  accounts,
  history,
];
