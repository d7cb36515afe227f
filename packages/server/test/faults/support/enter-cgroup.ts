// Loaded into a server before anything else: moves it into the control groups that its test names.
import { enterCgroups } from './own-cgroup.ts';

enterCgroups(process.env['TEST_CGROUP'] ?? 'test');
