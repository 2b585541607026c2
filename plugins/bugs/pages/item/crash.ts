/** The stack of the item's own error, with the source maps that its frames would need. */
import type { Json } from '../../../../ports/store.js';
import type { About } from './about.js';
import { missingMapsOf } from './missing-maps.js';
import { FrameOwners } from '../trace/frame-owners.js';
import { FrameValues } from '../trace/frame-values.js';
import { traceOf } from '../trace/trace.js';

type Given = readonly { context?: Json }[];

export function crash({ page, item, occurrences: { items } }: About): object {
  const framed = items.find(({ context }) => hasFrames(context))?.context;
  return {
    trace: traceOf(item.stack_trace, {
      file: item.file_path,
      line: item.line_no,
      owners: new FrameOwners(framed),
      values: new FrameValues(framed),
    }),
    missing_maps: missingMapsOf(newestContext(items), item.project, page.baseUrl()),
  };
}

/** The context of the newest occurrence: a map that came later is missing no more. */
const newestContext = (occurrences: Given): Json => occurrences[0]?.context ?? null;

/** Whether an occurrence on the page says more of the frames in the item's own stack; those of one error are alike. */
const hasFrames = (context: Json | undefined): boolean =>
  typeof context === 'object' &&
  context !== null &&
  ('frames' in context || 'source' in context || 'locals' in context);
