/** Moved: testing/fakes.ts. */
export * from '../../testing/fakes.js';
export { ManualClock as FakeClock } from '../../testing/clock.js';
