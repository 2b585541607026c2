/** Moved: testing/clock.ts. */
export { ManualClock } from '../../testing/clock.js';
