// Loaded into a server before anything else: each SIGUSR2 sets its wall clock, as an operator or NTP would. What
// counts time that has passed (performance.now, timers) goes on, as it does in a real system.
const hourMs = 3_600_000;
const steps = [hourMs, -2 * hourMs, 90_000, -90_000, hourMs];
const realNow = Date.now;
let ahead = 0;
Date.now = () => realNow() + ahead;
process.on('SIGUSR2', () => {
  ahead += steps.shift() ?? 0;
});
