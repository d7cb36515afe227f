#!/usr/bin/env node
import { launch } from '../../../scripts/launch.mjs';

await launch(() => import('../src/main.ts'));
