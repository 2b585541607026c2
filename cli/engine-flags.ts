/**
 * Two settings of the JavaScript engine, made before anything else is loaded. V8 watches where objects are made that
 * live long, and from then on makes those of the same line among the old ones at once. Under load it learns this of
 * requests, which live for milliseconds: the old space then fills with finished requests (8 to 16 KB each), and every
 * collection is a large one. Figures are in docs/decisions/020-event-loop-and-heap.md.
 *
 * The heap of the old (decision 020) grows by this share of what lives in it before it is looked through again; V8's
 * own choice lets it double, and the memory stays with the process. Node 20 to 26 know both flags; an engine that does
 * not says so and goes on.
 */
import { setFlagsFromString } from 'node:v8';

setFlagsFromString('--no-allocation-site-pretenuring');
setFlagsFromString('--heap-growing-percent=30');
