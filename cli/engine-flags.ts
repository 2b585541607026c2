/**
 * Settings of the JavaScript engine, made before anything else is loaded. V8 watches where objects are made that live
 * long, and from then on makes those of the same line among the old ones at once. Under load it learns this of
 * requests, which live for milliseconds: the old space then fills with finished requests (8 to 16 KB each), and every
 * collection is a large one. Figures are in docs/decisions/020-event-loop-and-heap.md.
 *
 * The heap of the old (decision 020) grows by this share of what lives in it before it is looked through again; V8's
 * own choice lets it double, and the memory stays with the process. A start, all of whose objects stay, has V8's own
 * choice. Node 20 to 26 know these flags; an engine that does not says so and goes on.
 *
 * Node 20 compiles thoroughly what ran a moment, and so much of what runs only at the start that this is a quarter of
 * its time: until the program is up, code has to run longer for it. (Newer ones have a quick compiler in between.)
 *
 * Who allows new objects 4 MB or less (`--max-semi-space-size`, deploy/small.env) has little memory. V8 then moves
 * together sooner what is left half empty, looks through the old heap after 2 MB more, not after 8, which is what
 * counts in the small heaps of the threads, and drops what it compiled of functions that have not run lately, as those
 * of a start. That bounds when V8 looks, never how much a heap may hold.
 */
import { setFlagsFromString } from 'node:v8';
import { newSpaceMb } from '../config/new-space.js';

const NODE_20 = process.version.startsWith('v20.');
/** The budget of Node 20 (`node --v8-options`), and one that a start does not use up. */
const BUDGET = { usual: 67_584, starting: 1_000_000 };
const given = process.execArgv.some((flag) => flag.startsWith('--interrupt-budget'));
/** In MB; 0 is V8's own choice. */
const NEW_SPACE = newSpaceMb();
const SMALL = NEW_SPACE > 0 && NEW_SPACE <= 4;

setFlagsFromString('--no-allocation-site-pretenuring');
starting();

/** The options of a start. */
export function starting(): void {
  setFlagsFromString('--heap-growing-percent=0');
  // V8 refuses compiled code that was made under another option (program.ts). This thread has its new space by now.
  setFlagsFromString('--max-semi-space-size=0');
  if (NODE_20 && !given) setFlagsFromString(`--interrupt-budget=${BUDGET.starting}`);
}

/** The code is there, and was compiled as it had to be: threads that start from now on have the new space asked for. */
export function codeIsLoaded(): void {
  setFlagsFromString(`--max-semi-space-size=${NEW_SPACE}`);
}

/** The program is up: from now on code that runs often is compiled as usual. */
export function startIsOver(): void {
  setFlagsFromString('--heap-growing-percent=30');
  if (SMALL) {
    setFlagsFromString('--optimize-for-size');
    setFlagsFromString('--bytecode-old-age=2');
    // Some versions take the least new space along with it.
    codeIsLoaded();
  }
  if (NODE_20 && !given) setFlagsFromString(`--interrupt-budget=${BUDGET.usual}`);
}
