/** The stack of the item's own error, with the source maps that its frames would need. */
import type { Json } from '../../../../ports/store.js';
import type { About } from './about.js';
import { missingMapsOf } from './missing-maps.js';
import { FrameOwners } from '../trace/frame-owners.js';
import { traceOf } from '../trace/trace.js';

type Given = readonly { context?: Json }[];

export function crash({ page, item, occurrences: { items } }: About): object {
  return {
    trace: traceOf(item.stack_trace, { file: item.file_path, line: item.line_no, owners: ownersOf(items) }),
    missing_maps: missingMapsOf(newestContext(items), item.project, page.baseUrl()),
  };
}

/**
 * Owners of the frames in the item's own stack, as the occurrences on the page name them. Those of one error are alike.
 */
const ownersOf = (occurrences: Given): FrameOwners =>
  new FrameOwners(occurrences.find(({ context }) => hasFrames(context))?.context);

/** The context of the newest occurrence: a map that came later is missing no more. */
const newestContext = (occurrences: Given): Json => occurrences[0]?.context ?? null;

const hasFrames = (context: Json | undefined): boolean =>
  typeof context === 'object' && context !== null && 'frames' in context;
