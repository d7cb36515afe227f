// Loaded into a server before anything else: each SIGUSR2 steps its wall clock, as an operator or NTP would. Monotonic
// time (performance.now, timers) is not affected, as in a real system.
const hourMs = 3_600_000;
const steps = [hourMs, -2 * hourMs, 90_000, -90_000, hourMs];
const realNow = Date.now;
let ahead = 0;
Date.now = () => realNow() + ahead;
process.on('SIGUSR2', () => {
  ahead += steps.shift() ?? 0;
});
